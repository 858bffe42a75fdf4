use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Clock, Id, Phase, Progress, Removed, State};
use crate::handler::Band;

/// So many keys that a halt cut off are kept to be named.
const NAMED: usize = 10;

/// A copy for a list of names, from which a key is left out that cannot be cloned: the end of the
/// queue does not depend on it, nor what can be told of the others.
pub(super) fn name_of<T: Clone>(item: &T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(|| item.clone())) {
        Ok(name) => Some(name),
        Err(payload) => {
            // Its drop may call the queue, whose lock is held.
            std::mem::forget(payload);
            None
        }
    }
}

// === impl State ===

impl<T> State<T> {
    pub(in super::super) fn progress(&self) -> Progress {
        let halted = self.phase == Phase::Halted;
        let left = self.len() + self.works.len();
        Progress {
            over: halted || left == 0,
            releases: self.releases,
            dropped_delayed: self.counts.dropped_delayed,
            refused: usize::try_from(self.counts.refused).unwrap_or(usize::MAX),
            left: if halted { self.abandoned } else { left },
            left_in_work: if halted {
                self.abandoned_in_work
            } else {
                self.works.len()
            },
        }
    }

    /// Closes the intake and gives back the delayed keys, and those that are remembered. Those in
    /// line are still handed out, and so is a key that was added while it was in work, or whose
    /// delay passed then.
    pub(in super::super) fn shut_down(&mut self, clock: &mut Clock) -> Vec<Removed<T>> {
        if self.phase == Phase::Open {
            self.phase = Phase::ShuttingDown;
            for (_, work) in &mut self.works {
                self.counts.adds += u64::from(work.come_due(clock));
            }
        }
        let delayed = std::mem::take(&mut self.deadlines);
        self.counts.dropped_delayed += delayed.len();
        let delayed = delayed.into_values();
        let mut dropped: Vec<_> = delayed.map(|id| self.entries.remove(id)).collect();
        dropped.extend(std::iter::from_fn(|| self.pop_remembered()));
        dropped
    }

    fn first_in_line(&self) -> Option<(Id, Band)> {
        let live = self.live.first().map(|id| (id, Band::Live));
        live.or_else(|| self.background.first().map(|id| (id, Band::Background)))
    }

    /// Lets the drains go that have begun.
    pub(in super::super) const fn release(&mut self) {
        self.releases += 1;
    }
}

impl<T: Clone> State<T> {
    /// Closes the intake and drops the keys in line too.
    pub(in super::super) fn halt(&mut self, clock: &mut Clock) -> Vec<Removed<T>> {
        if self.phase == Phase::Halted {
            return Vec::new();
        }
        let mut dropped = self.shut_down(clock);
        self.phase = Phase::Halted;
        self.abandoned = self.len() + self.works.len();
        self.abandoned_in_work = self.works.len();
        let items = self
            .works
            .iter()
            .map(|(_, work)| self.entries.item(work.id));
        let names = items.filter_map(name_of).take(NAMED);
        self.abandoned_keys = names.map(|name| Removed::new(name, None)).collect();
        while let Some((id, band)) = self.first_in_line() {
            self.unlink(id, band);
            let removed = self.entries.remove(id);
            if self.abandoned_keys.len() < NAMED {
                self.abandoned_keys.push(removed);
            } else {
                dropped.push(removed);
            }
        }
        dropped
    }

    /// The first keys that the halt cut off: those in work, then those in line.
    pub(in super::super) fn abandoned_keys(&self) -> Vec<T> {
        let keys = self.abandoned_keys.iter().filter_map(Removed::key);
        keys.filter_map(name_of).collect()
    }
}
