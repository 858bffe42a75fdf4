//! How many raises a minute may have. Pure: whoever calls says what time it is.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use indexmap::IndexSet;
use tokio::time::{Duration, Instant};

use crate::client::ObjectKey;

const WINDOW: Duration = Duration::from_secs(60);

/// The longest wait that is foretold: if those ahead in line go away, the rest should not
/// sleep on for hours.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// When the turn of a raise comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How many raises a minute may have.
    pub limit: u32,
    /// How long it is until then, at the earliest.
    pub wait: Duration,
}

/// Lets at most `limit` raises begin or end in any 60 seconds, in the order in which they
/// asked.
///
/// A raise holds its slot from when it is sent until 60 seconds after it was answered: the
/// server applied it somewhere in between. A key that has to wait keeps its place in line
/// until it gets a slot or is [forgotten](Self::forget), so a waiting key must come back, or
/// be forgotten: it is passed over by nobody.
#[derive(Debug)]
pub(super) struct Budget {
    limit: NonZeroU32,
    /// The slots that are taken, in the order of their times.
    taken: VecDeque<(Slot, Instant)>,
    /// The line.
    waiting: IndexSet<ObjectKey>,
    next: u64,
}

/// One raise that was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(u64);

// === impl Budget ===

impl Budget {
    pub(super) fn new(limit: NonZeroU32) -> Self {
        Self {
            limit,
            taken: VecDeque::new(),
            waiting: IndexSet::new(),
            next: 0,
        }
    }

    /// A slot for a raise of `key`, or when to ask again.
    pub(super) fn take(&mut self, key: &ObjectKey, now: Instant) -> Result<Slot, Turn> {
        while let Some((_, at)) = self.taken.front()
            && now.duration_since(*at) >= WINDOW
        {
            self.taken.pop_front();
        }
        let limit = self.limit.get() as usize;
        let free = limit.saturating_sub(self.taken.len());
        let ahead = self.waiting.get_index_of(key).unwrap_or(self.waiting.len());
        if ahead < free {
            self.waiting.shift_remove(key);
            let slot = Slot(self.next);
            self.next += 1;
            self.taken.push_back((slot, now));
            return Ok(slot);
        }
        self.waiting.insert(key.clone());
        Err(Turn {
            limit: self.limit.get(),
            wait: self.wait(ahead - free, now),
        })
    }

    /// The raise was answered: its minute counts from now.
    pub(super) fn answered(&mut self, slot: Slot, now: Instant) {
        if self.drop_slot(slot) {
            self.taken.push_back((slot, now));
        }
    }

    /// The server has refused the raise: it cost nothing, and its key is the first in line
    /// again. A 409 is planned anew at once, and must not go to the end for that.
    pub(super) fn give_back(&mut self, slot: Slot, key: &ObjectKey) {
        if self.drop_slot(slot) {
            self.waiting.shift_insert(0, key.clone());
        }
    }

    /// The key has nothing to raise any more.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        self.waiting.shift_remove(key);
    }

    /// How many keys are in line.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn drop_slot(&mut self, slot: Slot) -> bool {
        let at = self.taken.iter().position(|(taken, _)| *taken == slot);
        at.and_then(|at| self.taken.remove(at)).is_some()
    }

    /// When the slot comes free that is this far down the line, if every slot is taken
    /// again as soon as it can be.
    fn wait(&self, place: usize, now: Instant) -> Duration {
        let slots = self.taken.len().max(1);
        let rounds = u32::try_from(place / slots).unwrap_or(u32::MAX);
        let free_at = match self.taken.get(place % slots) {
            Some((_, at)) => *at + WINDOW,
            None => now + WINDOW,
        };
        let first = free_at.saturating_duration_since(now);
        first
            .saturating_add(WINDOW.saturating_mul(rounds))
            .min(LONGEST_WAIT)
    }
}

#[cfg(test)]
mod tests;
