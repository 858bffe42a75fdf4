//! How many raises a minute may have. Pure: whoever calls says what time it is.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use indexmap::IndexSet;
use tokio::time::{Duration, Instant};

use crate::client::ObjectKey;

const WINDOW: Duration = Duration::from_secs(60);

/// When the turn of a raise comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How many raises a minute may have.
    pub limit: u32,
    /// How long it is until it should ask again: until then, at the earliest, and never more
    /// than a minute. Those ahead in line may go away.
    pub wait: Duration,
}

/// Lets at most `limit` raises begin or end in any 60 seconds, in the order in which they
/// asked.
///
/// A raise holds its slot from when it is sent until 60 seconds after its end, however long
/// it is under way: the server applied it somewhere in between. A key that has to wait keeps its place in line
/// until it gets a slot or is [forgotten](Self::forget), so a waiting key must come back, or
/// be forgotten: it is passed over by nobody.
#[derive(Debug)]
pub(super) struct Budget {
    limit: NonZeroU32,
    /// How many raises have no end yet.
    under_way: usize,
    /// When the others ended, in this order.
    ended: VecDeque<Instant>,
    /// The line.
    waiting: IndexSet<ObjectKey>,
}

/// One raise that was let through. Whoever has it has to bring it back, by
/// [`Budget::ended`] or [`Budget::give_back`]: until then it takes one raise away from the
/// others.
#[derive(Debug)]
#[must_use]
pub(super) struct Slot(());

// === impl Budget ===

impl Budget {
    pub(super) fn new(limit: NonZeroU32) -> Self {
        Self {
            limit,
            under_way: 0,
            ended: VecDeque::new(),
            waiting: IndexSet::new(),
        }
    }

    /// A slot for a raise of `key`, or when to ask again.
    pub(super) fn take(&mut self, key: &ObjectKey, now: Instant) -> Result<Slot, Turn> {
        while let Some(at) = self.ended.front()
            && now.duration_since(*at) >= WINDOW
        {
            self.ended.pop_front();
        }
        let limit = self.limit.get() as usize;
        let free = limit.saturating_sub(self.under_way + self.ended.len());
        let ahead = self.waiting.get_index_of(key).unwrap_or(self.waiting.len());
        if ahead < free {
            self.waiting.shift_remove(key);
            self.under_way += 1;
            return Ok(Slot(()));
        }
        self.waiting.insert(key.clone());
        Err(Turn {
            limit: self.limit.get(),
            wait: self.wait(ahead - free, now),
        })
    }

    /// The raise was answered, or nobody waits for its answer any more: its minute counts
    /// from now.
    pub(super) fn ended(&mut self, slot: Slot, now: Instant) {
        self.free(slot);
        self.ended.push_back(now);
    }

    /// The server has refused the raise: it cost nothing, and its key is the first in line
    /// again. A 409 is planned anew at once, and must not go to the end for that.
    pub(super) fn give_back(&mut self, slot: Slot, key: &ObjectKey) {
        self.free(slot);
        self.waiting.shift_insert(0, key.clone());
    }

    /// The key has nothing to raise any more.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        self.waiting.shift_remove(key);
    }

    /// How many keys are in line.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn free(&mut self, Slot(()): Slot) {
        self.under_way -= 1;
    }

    /// When the slot comes free that is this far down the line. One whose raise is under way
    /// has its minute before it; and whoever is so far down that others come twice before
    /// asks again by then.
    fn wait(&self, place: usize, now: Instant) -> Duration {
        match self.ended.get(place) {
            Some(at) => (*at + WINDOW).saturating_duration_since(now),
            None => WINDOW,
        }
    }
}

#[cfg(test)]
mod tests;
