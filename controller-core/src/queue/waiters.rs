use std::collections::VecDeque;
use std::task::Waker;

use super::clock::Nanos;

/// The futures that wait for the queue, and whom to wake when it changes.
///
/// Two rules keep wake-ups exact:
///
/// - There are as many woken getters as keys in line, or no getter sleeps. A woken
///   getter that is dropped, or finds its key taken, is no longer counted, so the next
///   [`rouse`](Self::rouse) passes its wake-up on.
/// - While keys are delayed, one sleeping getter, the *timekeeper*, has its timer set to
///   the earliest deadline or before it; or a woken getter is about to take that over.
#[derive(Default)]
pub(super) struct Waiters {
    /// Getters that sleep without a timer, longest first.
    sleeping: VecDeque<(WaiterId, Waker)>,
    timekeeper: Option<Timekeeper>,
    /// Getters that were woken and have not been polled or dropped since.
    woken: usize,
    drains: Vec<Drainer>,
    next: WaiterId,
}

pub(super) type WaiterId = u64;

/// What there is to wake for.
pub(super) struct Signal {
    /// How many keys a getter could take.
    pub(super) in_line: usize,
    /// When the next delayed key is due.
    pub(super) earliest: Option<Nanos>,
    /// Every getter shall return, for no key will come any more.
    pub(super) ended: bool,
    /// Every drain shall return.
    pub(super) drained: bool,
    /// Drains that have seen fewer releases shall return.
    pub(super) releases: u64,
}

/// Wakers to call once the lock is released. One at most, as a rule; only the end of the
/// queue wakes many, and only then is memory allocated.
#[must_use]
#[derive(Default)]
pub(super) struct Wakes {
    first: Option<Waker>,
    more: Vec<Waker>,
}

struct Timekeeper {
    id: WaiterId,
    waker: Waker,
    armed: Nanos,
}

/// A drain that waits for the last key.
struct Drainer {
    id: WaiterId,
    waker: Waker,
    releases: u64,
}

// === impl Waiters ===

impl Waiters {
    /// Nobody is there to be woken, whatever happens.
    #[inline]
    pub(super) fn nobody_waits(&self) -> bool {
        self.sleeping.is_empty() && self.timekeeper.is_none() && self.drains.is_empty()
    }

    /// Puts a getter to sleep. The answer is the deadline that its timer must be set to,
    /// if it is the timekeeper from now on.
    pub(super) fn sleep(
        &mut self,
        waker: Waker,
        earliest: Option<Nanos>,
    ) -> (WaiterId, Option<Nanos>) {
        let id = self.next_id();
        match earliest {
            Some(armed) if self.timekeeper.is_none() => {
                self.timekeeper = Some(Timekeeper { id, waker, armed });
                (id, Some(armed))
            }
            _ => {
                self.sleeping.push_back((id, waker));
                (id, None)
            }
        }
    }

    /// A getter is polled again or dropped: it neither sleeps nor counts as woken. Gives its
    /// waker back, for the drop of one may call the queue.
    pub(super) fn leave(&mut self, id: WaiterId) -> Option<Waker> {
        if let Some(keeper) = self.timekeeper.take_if(|it| it.id == id) {
            Some(keeper.waker)
        } else if let Some(at) = self.sleeping.iter().position(|(other, _)| *other == id) {
            self.sleeping.remove(at).map(|(_, waker)| waker)
        } else {
            self.woken -= 1;
            None
        }
    }

    /// A drain that began after so many releases waits for its end.
    pub(super) fn watch(&mut self, waker: Waker, releases: u64) -> WaiterId {
        let id = self.next_id();
        self.drains.push(Drainer {
            id,
            waker,
            releases,
        });
        id
    }

    /// A drain is polled again or dropped. Gives its waker back.
    pub(super) fn unwatch(&mut self, id: WaiterId) -> Option<Waker> {
        let at = self.drains.iter().position(|it| it.id == id)?;
        Some(self.drains.swap_remove(at).waker)
    }

    /// Restores the two rules after a change, and names whom to wake for it.
    pub(super) fn rouse(&mut self, signal: &Signal) -> Wakes {
        let mut wakes = Wakes::default();
        let over = |it: &mut Drainer| signal.drained || it.releases < signal.releases;
        let drains = self.drains.extract_if(.., over);
        drains.for_each(|it| wakes.push(it.waker));
        while (signal.ended || self.woken < signal.in_line) && self.wake_one(&mut wakes) {}
        if let Some(earliest) = signal.earliest {
            let late = self.timekeeper.take_if(|it| it.armed > earliest);
            if let Some(Timekeeper { waker, .. }) = late {
                self.woken += 1;
                wakes.push(waker);
            } else if self.timekeeper.is_none() && self.woken == 0 {
                self.wake_one(&mut wakes);
            }
        }
        wakes
    }

    /// Wakes the getter that slept longest, the timekeeper last. False if none sleeps.
    fn wake_one(&mut self, wakes: &mut Wakes) -> bool {
        let sleeper = self.sleeping.pop_front().map(|(_, waker)| waker);
        let Some(waker) = sleeper.or_else(|| self.timekeeper.take().map(|it| it.waker)) else {
            return false;
        };
        self.woken += 1;
        wakes.push(waker);
        true
    }

    fn next_id(&mut self) -> WaiterId {
        self.next += 1;
        self.next
    }
}

// === impl Wakes ===

impl Wakes {
    /// Wakes them all. Never under the lock: a waker may run the woken task at once.
    pub(super) fn wake(self) {
        self.first
            .into_iter()
            .chain(self.more)
            .for_each(Waker::wake);
    }

    fn push(&mut self, waker: Waker) {
        match &self.first {
            None => self.first = Some(waker),
            Some(_) => self.more.push(waker),
        }
    }
}
