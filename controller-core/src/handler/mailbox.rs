use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::client::ObjectKey;
use crate::store::{Deleted, Delta, Tombstone};
use crate::watch::Object;

/// What one handler has not heard yet.
///
/// Up to `capacity` entries wait in order. What comes while it is full is kept by key, as
/// the net change since what the handler last saw, so that a handler that hangs costs at
/// most one entry an object and never the others' time.
pub(crate) struct Mailbox<T> {
    state: Mutex<State<T>>,
    arrived: Notify,
    capacity: usize,
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
    queue: VecDeque<Letter<T>>,
    /// One entry an object, in the order in which their keys came. Moved into `queue` only
    /// when that is empty, and until then every newer change goes here too: that is what
    /// keeps the order of each object.
    overflow: IndexMap<ObjectKey, NetChange<T>>,
    /// The first list ended while entries lay in the overflow.
    synced_after_overflow: bool,
    /// Set once and never taken back; the two above are empty from then on.
    closed: bool,
}

/// What happened to one object since the handler last saw it.
struct NetChange<T> {
    /// What the handler saw last, `None` if it never saw the object.
    seen: Option<Arc<T>>,
    /// How the object that the handler saw ended, if it did.
    end_of_seen: Option<Deleted<T>>,
    /// What there is now, `None` if nothing.
    now: Option<Arc<T>>,
    /// Whether all that happened was an initial add: one real event makes the whole an event.
    initial: bool,
}

// === impl Mailbox ===

impl<T: Object> Mailbox<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                overflow: IndexMap::new(),
                synced_after_overflow: false,
                closed: false,
            }),
            arrived: Notify::new(),
            capacity: capacity.max(1),
        }
    }

    /// Adds a change. Never blocks.
    pub(crate) fn push(&self, delta: Delta<T>) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        if state.queue.len() < self.capacity && !state.is_overflowing() {
            state.queue.push_back(Letter::Delta(delta));
        } else {
            state.merge(delta);
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// Marks the end of what the first list brought.
    pub(crate) fn push_synced(&self) {
        let mut state = self.state.lock();
        if state.is_overflowing() {
            state.synced_after_overflow = true;
        } else {
            state.queue.push_back(Letter::Synced);
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// No further entries; what waits is dropped.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.queue.clear();
        state.overflow.clear();
        drop(state);
        self.arrived.notify_one();
    }

    /// The next entry, or `None` once closed. For one reader only.
    pub(crate) async fn next(&self) -> Option<Letter<T>> {
        loop {
            {
                let mut state = self.state.lock();
                if state.closed {
                    return None;
                }
                if state.queue.is_empty() {
                    state.unfold();
                }
                if let Some(letter) = state.queue.pop_front() {
                    return Some(letter);
                }
            }
            self.arrived.notified().await;
        }
    }

    /// How many entries wait.
    pub(crate) fn len(&self) -> usize {
        let state = self.state.lock();
        state.queue.len() + state.overflow.len()
    }
}

// === impl State ===

impl<T: Object> State<T> {
    fn is_overflowing(&self) -> bool {
        !self.overflow.is_empty() || self.synced_after_overflow
    }

    fn merge(&mut self, delta: Delta<T>) {
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
        for (key, change) in std::mem::take(&mut self.overflow) {
            self.queue
                .extend(change.into_deltas(key).map(Letter::Delta));
        }
        if std::mem::take(&mut self.synced_after_overflow) {
            self.queue.push_back(Letter::Synced);
        }
    }
}

// === impl NetChange ===

impl<T: Object> NetChange<T> {
    fn new(delta: Delta<T>) -> Self {
        let seen = match &delta {
            Delta::Added { .. } => None,
            Delta::Updated { old, .. } => Some(Arc::clone(old)),
            Delta::Resynced { object } => Some(Arc::clone(object)),
            Delta::Deleted(deleted) => Some(Arc::clone(deleted.last_known())),
        };
        let mut change = Self {
            seen,
            end_of_seen: None,
            now: None,
            initial: true,
        };
        change.merge(delta);
        change
    }

    fn merge(&mut self, delta: Delta<T>) {
        match delta {
            Delta::Added { new, initial } => {
                self.initial &= initial;
                self.now = Some(new);
            }
            Delta::Updated { new, .. } => {
                self.initial = false;
                self.now = Some(new);
            }
            Delta::Resynced { object } => self.now = Some(object),
            Delta::Deleted(deleted) => {
                self.initial = false;
                self.now = None;
                let of_seen = self
                    .seen
                    .as_ref()
                    .is_some_and(|seen| seen.uid() == deleted.last_known().uid());
                if of_seen {
                    self.end_of_seen = Some(deleted);
                }
            }
        }
    }

    fn into_deltas(self, key: ObjectKey) -> impl Iterator<Item = Delta<T>> {
        let initial = self.initial;
        let (first, second) = match (self.seen, self.now) {
            (None, None) => (None, None),
            (None, Some(new)) => (Some(Delta::Added { new, initial }), None),
            (Some(seen), None) => (Some(ended(key, seen, self.end_of_seen)), None),
            (Some(seen), Some(now)) if Arc::ptr_eq(&seen, &now) => {
                (Some(Delta::Resynced { object: now }), None)
            }
            (Some(old), Some(new)) if old.uid() == new.uid() => {
                (Some(Delta::Updated { old, new }), None)
            }
            (Some(seen), Some(new)) => (
                Some(ended(key, seen, self.end_of_seen)),
                Some(Delta::Added { new, initial }),
            ),
        };
        first.into_iter().chain(second)
    }
}

fn ended<T>(key: ObjectKey, last_known: Arc<T>, end: Option<Deleted<T>>) -> Delta<T> {
    Delta::Deleted(end.unwrap_or(Deleted::FinalStateUnknown(Tombstone { key, last_known })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::Widget;

    fn widget(name: &str, version: &str) -> Arc<Widget> {
        Arc::new(Widget::new(name, version))
    }

    fn added(new: &Arc<Widget>) -> Delta<Widget> {
        Delta::Added {
            new: Arc::clone(new),
            initial: false,
        }
    }

    fn updated(old: &Arc<Widget>, new: &Arc<Widget>) -> Delta<Widget> {
        Delta::Updated {
            old: Arc::clone(old),
            new: Arc::clone(new),
        }
    }

    fn deleted(object: &Arc<Widget>) -> Delta<Widget> {
        Delta::Deleted(Deleted::Observed(Arc::clone(object)))
    }

    fn read(mailbox: &Mailbox<Widget>) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(Some(letter)) = futures::FutureExt::now_or_never(mailbox.next()) {
            words.push(match letter {
                Letter::Synced => "synced".to_owned(),
                Letter::Delta(delta) => {
                    let name = match &delta {
                        Delta::Added { .. } => "added",
                        Delta::Updated { .. } => "updated",
                        Delta::Resynced { .. } => "resynced",
                        Delta::Deleted(_) => "deleted",
                    };
                    let object = delta.object();
                    format!(
                        "{name} {}@{}",
                        object.key().name(),
                        object.resource_version()
                    )
                }
            });
        }
        words
    }

    /// A mailbox of one entry, which is taken.
    fn full() -> Mailbox<Widget> {
        let mailbox = Mailbox::new(1);
        mailbox.push(added(&widget("first", "1")));
        mailbox
    }

    #[test]
    fn what_fits_arrives_one_by_one() {
        let mailbox = Mailbox::new(10);
        let (old, new) = (widget("a", "1"), widget("a", "2"));
        mailbox.push(added(&old));
        mailbox.push(updated(&old, &new));
        mailbox.push(deleted(&new));
        assert_eq!(read(&mailbox), ["added a@1", "updated a@2", "deleted a@2"]);
    }

    /// BX-14.
    #[test]
    fn a_full_mailbox_keeps_the_net_change_of_each_object() {
        let mailbox = full();
        let (a1, a2, a3) = (widget("a", "1"), widget("a", "2"), widget("a", "3"));
        let (b1, b2) = (widget("b", "1"), widget("b", "2"));
        mailbox.push(updated(&a1, &a2));
        mailbox.push(added(&b1));
        mailbox.push(updated(&a2, &a3));
        mailbox.push(updated(&b1, &b2));
        assert_eq!(mailbox.len(), 3);
        assert_eq!(
            read(&mailbox),
            ["added first@1", "updated a@3", "added b@2"]
        );
    }

    #[test]
    fn what_was_never_seen_and_is_gone_is_not_mentioned() {
        let mailbox = full();
        let a = widget("a", "1");
        mailbox.push(added(&a));
        mailbox.push(deleted(&a));
        mailbox.push_synced();
        assert_eq!(read(&mailbox), ["added first@1", "synced"]);
    }

    #[test]
    fn another_uid_is_a_delete_of_what_was_seen_and_an_add() {
        let mailbox = full();
        let (old, seen) = (widget("a", "1"), widget("a", "2"));
        let between = Arc::new(Widget::new("a", "3").with_uid("between"));
        let new = Arc::new(Widget::new("a", "5").with_uid("new"));
        mailbox.push(updated(&old, &seen));
        mailbox.push(deleted(&seen));
        mailbox.push(added(&between));
        mailbox.push(deleted(&between));
        mailbox.push(added(&new));
        assert_eq!(
            read(&mailbox),
            ["added first@1", "deleted a@2", "added a@5"]
        );
    }

    #[test]
    fn order_is_kept_when_the_mailbox_fills_and_empties_again() {
        let mailbox = full();
        let (a, b) = (widget("a", "1"), widget("b", "1"));
        mailbox.push(added(&a));
        mailbox.push_synced();
        mailbox.push(added(&b));
        assert_eq!(
            read(&mailbox),
            ["added first@1", "added a@1", "added b@1", "synced"]
        );
        mailbox.push(deleted(&b));
        assert_eq!(read(&mailbox), ["deleted b@1"]);
    }

    #[test]
    fn a_closed_mailbox_is_empty_and_stays_so() {
        let mailbox = full();
        mailbox.close();
        mailbox.push(added(&widget("a", "1")));
        assert!(read(&mailbox).is_empty());
        assert_eq!(mailbox.len(), 0);
    }
}
