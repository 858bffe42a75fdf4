use std::sync::Arc;

use crate::client::ObjectKey;
use crate::store::{Deleted, Delta, Tombstone};
use crate::watch::Object;

/// What happened to one object since the handler last saw it.
pub(super) struct NetChange<T> {
    /// What the handler saw last, `None` if it never saw the object.
    seen: Option<Arc<T>>,
    /// How the object that the handler saw ended, if it did.
    end_of_seen: Option<Deleted<T>>,
    /// What there is now, `None` if nothing.
    now: Option<Arc<T>>,
    /// Whether all that happened was an initial add: one real event makes the whole an event.
    initial: bool,
}

// === impl NetChange ===

impl<T: Object> NetChange<T> {
    pub(super) fn new(delta: Delta<T>) -> Self {
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

    pub(super) fn merge(&mut self, delta: Delta<T>) {
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

    pub(super) fn into_deltas(self, key: ObjectKey) -> impl Iterator<Item = Delta<T>> {
        let initial = self.initial;
        let (first, second) = match (self.seen, self.now) {
            (None, None) => (None, None),
            (None, Some(new)) => (Some(Delta::Added { new, initial }), None),
            (Some(seen), None) => (Some(ended(key, seen, self.end_of_seen)), None),
            (Some(seen), Some(now)) if Arc::ptr_eq(&seen, &now) => {
                (Some(Delta::Resynced { object: now }), None)
            }
            // Had it left the selector in between, `seen` may be the copy that came with its
            // leaving, which the handler never saw.
            (Some(old), Some(new)) if self.end_of_seen.is_none() && old.uid() == new.uid() => {
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
