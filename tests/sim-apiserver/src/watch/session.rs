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
    store::{Change, Object, Store},
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
    /// The revision up to which everything was read.
    revision: u64,
    initial: std::vec::IntoIter<Arc<Object>>,
    end_bookmark: bool,
    ready: VecDeque<Bytes>,
    first_event: bool,
    bookmarks: Option<Bookmarks>,
    deadline: Instant,
    buffer: u64,
    closed: CancellationToken,
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
        store: Arc<Store>,
        request: WatchRequest,
        view: View,
        config: &WatchConfig,
        closed: CancellationToken,
    ) -> Self {
        let now = Instant::now();
        let deadline = now + request.timeout;
        let mut ready = VecDeque::new();
        let mut initial = Vec::new();
        let mut end_bookmark = false;
        let mut ended = false;
        let (changed, position, revision, after) = {
            let state = store.read();
            let table = state.table(request.kind);
            let revision = state.revision();
            let (position, after) = match request.start {
                WatchStart::Now => (table.history.end(), 0),
                WatchStart::TooNew { asked, now } => {
                    // The real server waits for three seconds first.
                    let refusal = ApiStatus::too_large_resource_version(asked, now);
                    ready.push_back(line("ERROR", &refusal.encode()));
                    ended = true;
                    (table.history.end(), 0)
                }
                WatchStart::InitialEvents { end_bookmark: end } => {
                    let all = table.range(request.filter.namespace(), None);
                    initial = all
                        .filter(|object| request.filter.matches(object))
                        .cloned()
                        .collect();
                    end_bookmark = end;
                    (table.history.end(), 0)
                }
                WatchStart::After(after) => match table.history.position_after(after) {
                    Some(position) => (position, after),
                    None => {
                        let gone = ApiStatus::too_old_for_watch(after, table.history.compacted());
                        ready.push_back(line("ERROR", &gone.encode()));
                        ended = true;
                        (table.history.end(), after)
                    }
                },
            };
            (table.subscribe(), position, revision, after)
        };
        let bookmarks = request
            .bookmarks
            .then(|| Bookmarks::new(config.bookmark_interval, now, deadline));
        Self {
            store,
            kind: request.kind,
            filter: request.filter,
            view,
            changed,
            position,
            after,
            revision,
            initial: initial.into_iter(),
            end_bookmark,
            ready,
            first_event: true,
            bookmarks,
            deadline,
            buffer: config.buffer,
            closed,
            ended,
        }
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Bytes> + Send {
        stream::unfold(self, |mut session| async move {
            let line = session.next().await?;
            Some((line, session))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.ended || self.closed.is_cancelled() || Instant::now() >= self.deadline {
                return None;
            }
            if let Some(object) = self.initial.next() {
                return Some(self.event("ADDED", &object));
            }
            if std::mem::take(&mut self.end_bookmark) {
                return Some(self.view.bookmark(self.revision.max(self.after), true));
            }
            self.changed.borrow_and_update();
            if self.read_on()? {
                continue;
            }
            let bookmark = self.bookmarks.as_ref().map(|bookmarks| bookmarks.next);
            tokio::select! {
                biased;
                () = self.closed.cancelled() => return None,
                () = sleep_until(self.deadline) => return None,
                () = until(bookmark) => self.bookmark(),
                // The sender lives in the store, which this session holds.
                _ = self.changed.changed() => {}
            }
        }
    }

    /// Reads further changes; `None` if the watch fell behind, false if there was nothing to read.
    fn read_on(&mut self) -> Option<bool> {
        let changes = {
            let state = self.store.read();
            let history = &state.table(self.kind).history;
            if history.end().saturating_sub(self.position) > self.buffer {
                return None;
            }
            let changes = history.since(self.position, BATCH)?;
            if changes.is_empty() {
                self.revision = state.revision();
                return Some(false);
            }
            changes
        };
        self.position += changes.len() as u64;
        let after = self.after;
        for change in changes.iter().filter(|change| change.revision > after) {
            self.take(change);
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
        self.ready
            .push_back(self.view.bookmark(self.revision.max(self.after), false));
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
