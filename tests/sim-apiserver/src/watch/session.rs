//! One open watch.

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::{Stream, stream};
use tokio::{
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use crate::{
    config::WatchConfig,
    kinds::KindId,
    selector::Filter,
    status::ApiStatus,
    store::{AsOf, Change, Life, ListRequest, Listing, Object, RevisionMatch, State, Store},
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
    changed: watch::Receiver<Life>,
    life: Life,
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
    /// Wakes at the deadline or at the next bookmark, whichever comes first.
    timer: Pin<Box<Sleep>>,
    buffer: u64,
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

/// How many bytes of lines are sent as one.
const FRAME: usize = 16 * 1024;

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
        let bookmarks = request
            .bookmarks
            .then(|| Bookmarks::new(config.bookmark_interval, now, deadline));
        let state = store.read();
        let table = state.table(request.kind);
        let (as_of, revision) = (request.as_of, request.as_of.newest(state.revision()));
        let changed = table.subscribe();
        let life = *changed.borrow();
        let mut session = Self {
            kind: request.kind,
            view,
            life,
            changed,
            position: table.history.end(),
            after: 0,
            as_of,
            seen_all: false,
            revision,
            initial: Vec::new().into_iter(),
            end_bookmark: false,
            ready: VecDeque::new(),
            first_event: true,
            timer: Box::pin(sleep_until(wake_at(deadline, bookmarks.as_ref()))),
            bookmarks,
            deadline,
            buffer: config.buffer,
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
                    // Whatever the endpoint has.
                    revision: RevisionMatch::Any,
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
            if *self.changed.borrow_and_update() != self.life {
                return None;
            }
            if let Some(lines) = self.take_ready() {
                return Some(lines);
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
            if self.read_on()? {
                continue;
            }
            tokio::select! {
                biased;
                () = self.timer.as_mut() => self.bookmark(),
                // The sender lives in the store, which this session holds.
                _ = self.changed.changed() => {}
            }
        }
    }

    /// The lines that are due, some of them joined: many small frames cost more than a few large ones.
    fn take_ready(&mut self) -> Option<Bytes> {
        let first = self.ready.pop_front()?;
        if self.ready.is_empty() {
            return Some(first);
        }
        let mut frame = BytesMut::with_capacity(FRAME);
        frame.extend_from_slice(&first);
        while let Some(line) = self
            .ready
            .pop_front_if(|line| frame.len() + line.len() <= FRAME)
        {
            frame.extend_from_slice(&line);
        }
        Some(frame.freeze())
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
        // Whether it is for this watch what it is for one without a selector.
        let usual = old.is_some() == change.old.is_some() && new.is_some() == change.new.is_some();
        let (event, object) = match (old, new) {
            (None, None) => return,
            (None, Some(new)) => ("ADDED", new),
            (Some(_), Some(new)) => ("MODIFIED", new),
            (Some(_), None) => match change.last_state() {
                Some(last) => ("DELETED", last),
                None => return,
            },
        };
        let line = if usual && self.view.is_plain() {
            change.line(|| self.view.event(event, object, false))
        } else {
            self.event(event, object)
        };
        self.ready.push_back(line);
    }

    fn event(&mut self, event: &str, object: &Object) -> Bytes {
        let first = std::mem::take(&mut self.first_event);
        self.view.event(event, object, first)
    }

    /// Sends a bookmark if it is time for one.
    fn bookmark(&mut self) {
        let now = Instant::now();
        let (deadline, revision) = (self.deadline, self.revision);
        if let Some(bookmarks) = &mut self.bookmarks
            && bookmarks.next <= now
            && now < deadline
        {
            *bookmarks = Bookmarks::new(bookmarks.interval, now, deadline);
            // A watch that waits for a revision to come is told of no older one.
            if revision >= self.after {
                self.ready.push_back(self.view.bookmark(revision, false));
            }
        }
        let next = wake_at(deadline, self.bookmarks.as_ref());
        self.timer.as_mut().reset(next);
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

fn wake_at(deadline: Instant, bookmarks: Option<&Bookmarks>) -> Instant {
    bookmarks.map_or(deadline, |bookmarks| bookmarks.next.min(deadline))
}
