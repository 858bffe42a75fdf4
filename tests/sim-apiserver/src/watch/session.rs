//! One open watch.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{Stream, stream};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::WatchConfig,
    kinds::KindId,
    selector::Filter,
    status::ApiStatus,
    store::{AsOf, Change, ListRequest, Listing, Object, State, Store},
    view::{View, line},
};

/// What a watch asks for.
#[derive(Clone, Debug)]
pub(crate) struct WatchRequest {
    pub(crate) kind: KindId,
    pub(crate) filter: Filter,
    pub(crate) start: WatchStart,
    pub(crate) bookmarks: bool,
    /// How long the server keeps it open.
    pub(crate) timeout: Duration,
    /// What the endpoint that is asked has seen: it tells nothing newer.
    pub(crate) as_of: AsOf,
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchStart {
    /// With an ADDED for each object there is; `end_bookmark` tells the client where they end.
    InitialEvents { end_bookmark: bool },
    /// With what happens from now on.
    Now,
    /// With what happened after this revision.
    After(u64),
    /// Not at all: the initial events are wanted at a revision that is still to come.
    TooNew { asked: u64, now: u64 },
}

/// An open watch.
pub(crate) struct WatchSession {
    store: Arc<Store>,
    kind: KindId,
    filter: Filter,
    view: View,
    changed: watch::Receiver<u64>,
    /// The position of the next change to read.
    position: u64,
    /// A watch may start at a revision that is still to come: older changes are not for it.
    after: u64,
    as_of: AsOf,
    /// Whether there is nothing more to come for `as_of`.
    seen_all: bool,
    /// The revision up to which everything was read.
    revision: u64,
    initial: std::vec::IntoIter<Arc<Object>>,
    end_bookmark: bool,
    ready: VecDeque<Bytes>,
    first_event: bool,
    bookmarks: Option<Bookmarks>,
    deadline: Instant,
    buffer: u64,
    serving: CancellationToken,
    ended: bool,
}

/// When bookmarks are due.
struct Bookmarks {
    interval: Duration,
    next: Instant,
}

/// The real server sends a last bookmark this long before it ends a watch.
const BEFORE_DEADLINE: Duration = Duration::from_secs(2);

/// How many changes are read under one lock.
const BATCH: usize = 256;

// === impl WatchSession ===

impl WatchSession {
    pub(crate) fn open(
        store: &Arc<Store>,
        request: WatchRequest,
        view: View,
        config: &WatchConfig,
    ) -> Self {
        let now = Instant::now();
        let deadline = now + request.timeout;
        let state = store.read();
        let table = state.table(request.kind);
        let (as_of, revision) = (request.as_of, request.as_of.newest(state.revision()));
        let mut session = Self {
            kind: request.kind,
            view,
            changed: table.subscribe(),
            position: table.history.end(),
            after: 0,
            as_of,
            seen_all: false,
            revision,
            initial: Vec::new().into_iter(),
            end_bookmark: false,
            ready: VecDeque::new(),
            first_event: true,
            bookmarks: request
                .bookmarks
                .then(|| Bookmarks::new(config.bookmark_interval, now, deadline)),
            deadline,
            buffer: config.buffer,
            serving: state.serving().clone(),
            ended: false,
            filter: request.filter,
            store: Arc::clone(store),
        };
        session.start(&state, request.start);
        session
    }

    fn start(&mut self, state: &State, start: WatchStart) {
        let after = match start {
            WatchStart::Now => self.revision,
            // The real server waits for three seconds first.
            WatchStart::TooNew { asked, now } => {
                return self.refuse(&ApiStatus::too_large_resource_version(asked, now));
            }
            WatchStart::InitialEvents { end_bookmark } => {
                let request = ListRequest {
                    as_of: self.as_of,
                    ..ListRequest::default()
                };
                match Listing::read(state, self.kind, &self.filter, &request) {
                    Ok(listing) => self.initial = listing.items.into_iter(),
                    Err(status) => return self.refuse(&status),
                }
                self.end_bookmark = end_bookmark;
                self.revision
            }
            WatchStart::After(after) => {
                self.after = after;
                after
            }
        };
        let history = &state.table(self.kind).history;
        match history.position_after(after) {
            Some(position) => self.position = position,
            None => self.refuse(&ApiStatus::too_old_for_watch(after, history.oldest_watch())),
        }
    }

    /// Ends before it has begun.
    fn refuse(&mut self, status: &ApiStatus) {
        self.ready.push_back(line("ERROR", &status.encode()));
        self.initial = Vec::new().into_iter();
        self.ended = true;
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Bytes> + Send {
        stream::unfold(self, |mut session| async move {
            let line = session.next().await?;
            Some((line, session))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.serving.is_cancelled() {
                return None;
            }
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.ended || Instant::now() >= self.deadline {
                return None;
            }
            if let Some(object) = self.initial.next() {
                return Some(self.event("ADDED", &object));
            }
            if std::mem::take(&mut self.end_bookmark) {
                return Some(self.view.bookmark(self.revision, true));
            }
            self.changed.borrow_and_update();
            if self.read_on()? {
                continue;
            }
            let bookmark = self.bookmarks.as_ref().map(|bookmarks| bookmarks.next);
            tokio::select! {
                biased;
                () = self.serving.cancelled() => return None,
                () = sleep_until(self.deadline) => return None,
                () = until(bookmark) => self.bookmark(),
                // The sender lives in the store, which this session holds.
                _ = self.changed.changed(), if !self.seen_all => {}
            }
        }
    }

    /// Reads further changes; `None` if the watch fell behind, false if there was nothing to read.
    fn read_on(&mut self) -> Option<bool> {
        if self.seen_all {
            return Some(false);
        }
        let changes = {
            let state = self.store.read();
            let history = &state.table(self.kind).history;
            // An endpoint that lags is no slow client: what it does not see fills no buffer.
            let behind = history.end().saturating_sub(self.position);
            if self.as_of == AsOf::Present && behind > self.buffer {
                return None;
            }
            let changes = history.since(self.position, BATCH)?;
            if changes.is_empty() {
                self.revision = self.as_of.newest(state.revision());
                self.seen_all = self.as_of.hides(state.revision() + 1);
                return Some(false);
            }
            changes
        };
        self.position += changes.len() as u64;
        for change in &changes {
            if self.as_of.hides(change.revision) {
                self.revision = self.as_of.newest(change.revision);
                self.seen_all = true;
                break;
            }
            if change.revision > self.after {
                self.take(change);
            }
        }
        Some(true)
    }

    /// Turns a change into what it is for this watch's selector.
    fn take(&mut self, change: &Change) {
        let fits = |object: &&Arc<Object>| self.filter.matches(object);
        let old = change.old.as_ref().filter(fits);
        let new = change.new.as_ref().filter(fits);
        let line = match (old, new) {
            (None, None) => return,
            (None, Some(new)) => self.event("ADDED", new),
            (Some(_), Some(new)) => self.event("MODIFIED", new),
            (Some(_), None) => {
                let Some(last) = change.last_state() else {
                    return;
                };
                self.event("DELETED", last)
            }
        };
        self.ready.push_back(line);
    }

    fn event(&mut self, event: &str, object: &Object) -> Bytes {
        let first = std::mem::take(&mut self.first_event);
        self.view.event(event, object, first)
    }

    fn bookmark(&mut self) {
        // A watch that waits for a revision to come is told of no older one.
        if self.revision >= self.after {
            let bookmark = self.view.bookmark(self.revision, false);
            self.ready.push_back(bookmark);
        }
        let deadline = self.deadline;
        if let Some(bookmarks) = &mut self.bookmarks {
            *bookmarks = Bookmarks::new(bookmarks.interval, Instant::now(), deadline);
        }
    }
}

// === impl Bookmarks ===

impl Bookmarks {
    fn new(interval: Duration, now: Instant, deadline: Instant) -> Self {
        let regular = now + interval;
        // None is sent when the time before the deadline has already come, as on the real server.
        let last = deadline
            .checked_sub(BEFORE_DEADLINE)
            .filter(|last| *last > now);
        Self {
            interval,
            next: last.map_or(regular, |last| last.min(regular)),
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
