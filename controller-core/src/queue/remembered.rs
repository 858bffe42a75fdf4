//! Keys that have left are remembered for as long as the queue is busy.
//!
//! As a rule they come again, and then nothing has to be cloned, put into the table and taken
//! out of it: half of what a passage costs. A queue that has caught up keeps none of them, so
//! that no key outlives its work for long.
use std::collections::VecDeque;

use super::{Entries, Gone, Id, Incoming, KeyHash, Place, Removed, State};

/// The keys that have left and are remembered.
///
/// A key that comes again stays on the list, and stands there already when it leaves once more:
/// so a key that comes and goes changes nothing but its own entry. What is on the list for
/// nothing is found out when its turn comes to be forgotten.
#[derive(Default)]
pub(super) struct Remembered {
    /// Each entry at most once, those that left first in front.
    ids: VecDeque<Id>,
    /// How many of these are [`Place::Remembered`].
    len: usize,
    /// How many keys have left since some were forgotten, there being too many.
    leaves: usize,
}

/// So many keys are remembered, however few others there are; and room for so many a queue
/// keeps that has caught up: less than a megabyte.
const KEPT: usize = 16 * 1024;

/// So many times as many as others may be remembered, that a burst is until near its end.
const TIMES: usize = 32;

/// So many keys leave before some are forgotten, there being too many.
const LEAVES: usize = 32;

/// So many numbers on the list are looked at in one go: more than are added meanwhile, so that the
/// list becomes shorter for as long as there are too many. What the others stand for came again,
/// and nobody is to wait for a look at a hundred thousand of those.
const LOOKS: usize = 2 * LEAVES;

/// So often that is done before there is more memory for the sake of what is remembered.
const GOES: usize = 8;

// === impl State ===

impl<T> State<T> {
    /// What is to be dropped once the lock is released.
    pub(in super::super) const fn gone(&mut self) -> Option<Box<Gone<T>>> {
        self.gone.take()
    }

    /// The work on the key, or its delay, is over. Gives it back if the queue has caught up; else
    /// it is remembered.
    pub(super) fn leave(&mut self, id: Id) -> Option<Removed<T>> {
        if self.is_caught_up() {
            return Some(self.entries.remove(id));
        }
        *self.entries.place_mut(id) = Place::Remembered;
        self.remembered.len += 1;
        if self.entries.list(id) {
            self.remembered.ids.push_back(id);
        }
        let others = self.len() + self.works.len();
        if self.remembered.len > KEPT.max(TIMES * others) {
            // Not more than two for one that leaves: with the last keys of a burst the limit falls
            // faster than that, and then all are let go together.
            self.remembered.leaves += 1;
            if self.remembered.leaves >= LEAVES {
                self.remembered.leaves = 0;
                self.forget_some();
            }
        }
        None
    }

    /// To be called where the last key may have left the line or its worker.
    pub(super) fn forget_if_caught_up(&mut self) {
        if self.is_caught_up() {
            self.forget();
        }
    }

    fn is_caught_up(&self) -> bool {
        self.len() == 0 && self.works.is_empty()
    }

    /// What a burst took is given back, for a first list of a million keys must not be paid for
    /// until the process ends. Only delayed keys are left, if any.
    fn forget(&mut self) {
        let capacity = self.entries.capacity();
        if capacity > KEPT && self.deadlines.len() < capacity / 8 {
            self.start_anew();
        } else if !self.remembered.ids.is_empty() {
            self.forget_first(usize::MAX);
            self.remembered.ids.shrink_to(KEPT);
        }
    }

    /// Moves the delayed keys to entries of their own, and lets go of all others together.
    #[cold]
    fn start_anew(&mut self) {
        self.remembered = Remembered::default();
        let mut old = std::mem::replace(&mut self.entries, Entries::new());
        for id in self.deadlines.values_mut() {
            *id = old.move_to(*id, &mut self.entries);
        }
        self.gone_mut().entries = old;
    }

    #[cold]
    fn forget_some(&mut self) {
        self.forget_first(LOOKS);
    }

    /// Forgets what the first so many numbers on the list stand for. These keys are not the
    /// caller's, who therefore does not hear of one that panics when it is dropped.
    fn forget_first(&mut self, looks: usize) {
        let keys = looks.min(self.remembered.len);
        self.gone_mut().removed.reserve(keys);
        for _ in 0..looks.min(self.remembered.ids.len()) {
            let first = self.take_first();
            self.gone_mut().removed.extend(first);
        }
    }

    /// The key that has left first of those that are remembered.
    pub(super) fn pop_remembered(&mut self) -> Option<Removed<T>> {
        while !self.remembered.ids.is_empty() {
            let first = self.take_first();
            if first.is_some() {
                return first;
            }
        }
        None
    }

    /// What the first number on the list stands for, unless it is there for nothing.
    fn take_first(&mut self) -> Option<Removed<T>> {
        let first = self.remembered.ids.pop_front()?;
        if !self.entries.is_remembered(first) {
            self.entries.unlist(first);
            return None;
        }
        self.remembered.len -= 1;
        Some(self.entries.remove(first))
    }

    fn gone_mut(&mut self) -> &mut Gone<T> {
        self.gone.get_or_insert_with(|| {
            Box::new(Gone {
                removed: Vec::new(),
                entries: Entries::new(),
            })
        })
    }
}

impl<T: Clone> State<T> {
    /// Makes an entry for a key that has none. The caller gives it its place, and has changed
    /// nothing before: a key may panic when it is cloned.
    ///
    /// The entries do not grow for the sake of many that are only remembered.
    pub(super) fn insert(&mut self, hash: KeyHash, key: &mut Incoming<'_, T>) -> Id {
        let (item, copy) = key.keep();
        for _ in 0..GOES {
            let full = self.entries.len() == self.entries.capacity();
            if !full || self.remembered.len <= KEPT {
                break;
            }
            self.forget_some();
        }
        self.entries.insert(hash, item, Some(copy))
    }

    /// A remembered key is back. The caller gives it its place. The newer of the two equal keys
    /// is handed out, unless it would have to be cloned.
    pub(super) fn recall(&mut self, id: Id, key: &mut Incoming<'_, T>) {
        self.remembered.len -= 1;
        if let Some(newer) = key.keep_owned() {
            key.leave_with(self.entries.put_copy(id, newer));
        }
    }
}

#[cfg(test)]
impl<T> State<T> {
    /// Panics unless each key that is remembered is on the list, and each number there once.
    pub(in super::super) fn check_remembered(&self) {
        let ids: std::collections::HashSet<_> = self.remembered.ids.iter().copied().collect();
        assert_eq!(ids.len(), self.remembered.ids.len());
        let remembered = ids.iter().filter(|id| self.entries.is_remembered(**id));
        assert_eq!(remembered.count(), self.remembered.len);
        let others = self.len() + self.works.len() + self.deadlines.len();
        assert_eq!(self.entries.len(), self.remembered.len + others);
    }
}

#[cfg(test)]
#[path = "remembered/tests.rs"]
mod tests;
