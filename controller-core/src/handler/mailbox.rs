use std::collections::VecDeque;
use std::time::Duration;

use indexmap::IndexMap;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::net_change::NetChange;
use super::pace::Pace;
use crate::client::ObjectKey;
use crate::store::Delta;
use crate::watch::Object;

/// What one handler has not heard yet.
///
/// Up to `capacity` entries wait in order. What comes while it is full is kept by key, as
/// the net change since what the handler last saw, so that a handler that hangs costs at
/// most one entry an object and never the others' time.
///
/// It outlives its reader: what lies in it when an informer stops is heard when it starts
/// again.
pub(crate) struct Mailbox<T> {
    state: Mutex<State<T>>,
    arrived: Notify,
    capacity: usize,
    /// What the times below are counted from.
    made: Instant,
}

/// One entry of a mailbox.
#[derive(Debug)]
pub(crate) enum Letter<T> {
    /// A change of the cache.
    Delta(Delta<T>),
    /// Everything that the first list brought lies before this entry.
    Synced,
}

struct State<T> {
    /// Older than everything in `overflow`. At most `capacity` entries, except after the
    /// overflow was moved here as a whole.
    queue: VecDeque<Entry<T>>,
    /// One entry an object, in the order in which their keys came. Moved into `queue` only
    /// when that is empty, and until then every newer change goes here too: that is what
    /// keeps the order of each object.
    overflow: IndexMap<ObjectKey, NetChange<T>>,
    /// When the overflow began: a bound for the age of all that is in it.
    overflowing_since: Millis,
    /// The first list ended while entries lay in the overflow.
    synced_after_overflow: bool,
    /// Set once and never taken back; the two above are empty from then on.
    closed: bool,
    in_work: Option<InWork>,
    /// The longest call since somebody asked.
    longest_call: Duration,
}

struct Entry<T> {
    letter: Letter<T>,
    arrived: Millis,
}

/// The letter that the reader has taken out and not done with.
struct InWork {
    arrived: Millis,
    taken: Millis,
}

/// Since the mailbox was made. Half of an `Instant`, of which there may be many.
type Millis = u64;

// === impl Mailbox ===

impl<T: Object> Mailbox<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                overflow: IndexMap::new(),
                overflowing_since: 0,
                synced_after_overflow: false,
                closed: false,
                in_work: None,
                longest_call: Duration::ZERO,
            }),
            arrived: Notify::new(),
            capacity: capacity.max(1),
            made: Instant::now(),
        }
    }

    /// Adds a change. Never blocks.
    pub(crate) fn push(&self, delta: Delta<T>) {
        let now = self.now();
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        if state.queue.len() < self.capacity && !state.is_overflowing() {
            state.enqueue(Letter::Delta(delta), now);
        } else {
            state.merge(delta, now);
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// Marks the end of what the first list brought.
    pub(crate) fn push_synced(&self) {
        let now = self.now();
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        if state.is_overflowing() {
            state.synced_after_overflow = true;
        } else {
            state.enqueue(Letter::Synced, now);
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// No further entries; what waits is dropped, and the reader is told.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.queue.clear();
        state.overflow.clear();
        state.synced_after_overflow = false;
        drop(state);
        self.arrived.notify_one();
    }

    /// The next entry, or `None` once closed. For one reader only, which says
    /// [`done`](Self::done) before it asks again. What is not returned stays here, also if
    /// the future is dropped.
    pub(crate) async fn next(&self) -> Option<Letter<T>> {
        loop {
            {
                let now = self.now();
                let mut state = self.state.lock();
                if state.closed {
                    return None;
                }
                if state.queue.is_empty() {
                    state.unfold();
                }
                if let Some(Entry { letter, arrived }) = state.queue.pop_front() {
                    let taken = now;
                    state.in_work = Some(InWork { arrived, taken });
                    return Some(letter);
                }
            }
            self.arrived.notified().await;
        }
    }

    /// The reader has done with the entry that it got.
    pub(crate) fn done(&self) {
        let now = self.now();
        let mut state = self.state.lock();
        if let Some(call) = state.in_work.take() {
            let took = between(call.taken, now);
            state.longest_call = state.longest_call.max(took);
        }
    }

    /// How far the reader is behind.
    pub(crate) fn pace(&self) -> Pace {
        self.state.lock().pace(self.now())
    }

    /// The same; the next one will not know of calls that have ended by now.
    pub(crate) fn take_pace(&self) -> Pace {
        let mut state = self.state.lock();
        let pace = state.pace(self.now());
        state.longest_call = Duration::ZERO;
        pace
    }

    fn now(&self) -> Millis {
        // 584 million years fit.
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

// === impl State ===

impl<T: Object> State<T> {
    fn is_overflowing(&self) -> bool {
        !self.overflow.is_empty() || self.synced_after_overflow
    }

    fn len(&self) -> usize {
        self.queue.len() + self.overflow.len()
    }

    fn pace(&self, now: Millis) -> Pace {
        let under_way = self.in_work.as_ref();
        let of_overflow = self.is_overflowing().then_some(self.overflowing_since);
        let oldest = under_way
            .map(|call| call.arrived)
            .or_else(|| self.queue.front().map(|entry| entry.arrived))
            .or(of_overflow);
        let call = under_way.map_or(Duration::ZERO, |call| between(call.taken, now));
        Pace {
            pending: self.len() + usize::from(under_way.is_some()),
            lag: oldest.map_or(Duration::ZERO, |oldest| between(oldest, now)),
            longest_call: self.longest_call.max(call),
        }
    }

    fn enqueue(&mut self, letter: Letter<T>, arrived: Millis) {
        self.queue.push_back(Entry { letter, arrived });
    }

    fn merge(&mut self, delta: Delta<T>, now: Millis) {
        if !self.is_overflowing() {
            self.overflowing_since = now;
        }
        let key = delta.key();
        match self.overflow.get_mut(&key) {
            Some(change) => change.merge(delta),
            None => {
                self.overflow.insert(key, NetChange::new(delta));
            }
        }
    }

    /// Moves the net changes into the queue, in the order in which their keys came.
    fn unfold(&mut self) {
        let arrived = self.overflowing_since;
        for (key, change) in std::mem::take(&mut self.overflow) {
            let letters = change.into_deltas(key).map(Letter::Delta);
            self.queue
                .extend(letters.map(|letter| Entry { letter, arrived }));
        }
        if std::mem::take(&mut self.synced_after_overflow) {
            self.enqueue(Letter::Synced, arrived);
        }
    }
}

fn between(earlier: Millis, later: Millis) -> Duration {
    Duration::from_millis(later.saturating_sub(earlier))
}

#[cfg(test)]
mod tests;
