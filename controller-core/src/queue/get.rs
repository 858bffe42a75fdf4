use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use super::clock::{Clock, Nanos};
use super::phase::Phase;
use super::removed::Removed;
use super::shared::{Inner, Shared};
use super::state::Taken;
use super::sync::Timer;
use super::ticket::Ticket;
use super::waiters::WaiterId;
use super::work::WorkId;

/// Waits for a key: see [`WorkQueue::get`](super::WorkQueue::get).
///
/// Takes its key in the very poll that returns it, so dropping it at any time loses
/// nothing; if it had been woken, another waiting `Get` is woken in its stead.
///
/// The dangerous mistake is to keep a `Get` without polling it: the queue may have woken
/// this one, and counts on it.
#[must_use = "a `Get` does nothing unless it is awaited"]
pub struct Get<T> {
    /// `None` once the ticket has it.
    shared: Option<Arc<Shared<T>>>,
    /// The work that is done as soon as this is polled, and its key.
    done: Option<(WorkId, T)>,
    /// Set while this future sleeps, and until it sees that it was woken.
    waiter: Option<WaiterId>,
    timer: Timer,
}

/// What a look at the queue takes out of it, to be dropped once the lock is released: what
/// the drop of a key or a waker does is not known.
struct Leftovers<T> {
    /// The key whose work is done, unless it stays.
    removed: Option<Removed<T>>,
    wakers: [Option<Waker>; 2],
}

/// The getter sleeps: until then, if it is the one to keep the time.
struct Asleep(Option<Nanos>);

// === impl Get ===

impl<T> Get<T> {
    #[inline]
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            shared: Some(shared),
            done: None,
            waiter: None,
            timer: Timer::default(),
        }
    }

    /// Ends this work first.
    #[inline]
    pub(super) fn after(shared: Option<Arc<Shared<T>>>, work: WorkId, item: Option<T>) -> Self {
        debug_assert!(
            shared.is_some() && item.is_some(),
            "invariant: a ticket has both until it is over"
        );
        Self {
            shared,
            done: item.map(|item| (work, item)),
            waiter: None,
            timer: Timer::default(),
        }
    }

    /// Inlined, or else it is handed over in copies: see `poll`.
    #[inline(always)]
    fn ticket(&mut self, taken: Taken<T>, leftovers: &mut Leftovers<T>) -> Ticket<T> {
        let ticket = Ticket::new(self.shared.take(), taken);
        if leftovers.is_empty() {
            return ticket;
        }
        leftovers.clear_beside(ticket)
    }
}

// Nothing is pinned in place: the timer is boxed.
impl<T> Unpin for Get<T> {}

impl<T> Future for Get<T> {
    type Output = Option<Ticket<T>>;

    /// # Panics
    /// Once it has returned a ticket.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            let shared = this.shared.as_ref();
            let shared = shared.expect("invariant: a future is not polled once it was ready");
            let mut leftovers = Leftovers::default();
            // The queue writes the key here instead of returning it. A copy of what was just
            // written in smaller pieces is dear: the processor waits until they have got through
            // to its cache. See `docs/adr/0005-stay-away-and-remember.md`.
            let mut taken = None;
            // A key is there more often than not, and then nobody needs a waker.
            shared.update(|inner, clock| {
                if let Some((work, item)) = this.done.take()
                    && let Some(removed) = inner.state.done(work, item, clock)
                {
                    leftovers.removed = Some(removed);
                }
                inner.take(&mut taken, clock, &mut this.waiter, &mut leftovers);
            });
            if let Some(taken) = taken {
                return Poll::Ready(Some(this.ticket(taken, &mut leftovers)));
            }
            let waker = cx.waker().clone();
            let asleep = shared.update(|inner, clock| {
                inner.take_or_sleep(&mut taken, clock, &mut this.waiter, waker, &mut leftovers)
            });
            if let Some(taken) = taken {
                return Poll::Ready(Some(this.ticket(taken, &mut leftovers)));
            }
            drop(leftovers);
            match asleep {
                None => return Poll::Ready(None),
                Some(Asleep(None)) => return Poll::Pending,
                Some(Asleep(Some(at))) => {
                    ready!(this.timer.poll_until(shared.instant(at), cx));
                }
            }
        }
    }
}

impl<T> Drop for Get<T> {
    fn drop(&mut self) {
        let (done, waiter) = (self.done.take(), self.waiter.take());
        let Some(shared) = self.shared.take() else {
            return;
        };
        if done.is_none() && waiter.is_none() {
            return;
        }
        drop(shared.update(|inner, clock| {
            let removed = done.and_then(|(work, item)| inner.state.done(work, item, clock));
            let waker = waiter.and_then(|id| inner.waiters.leave(id));
            (removed, waker)
        }));
    }
}

impl<T> fmt::Debug for Get<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Get").finish_non_exhaustive()
    }
}

// === impl Leftovers ===

impl<T> Leftovers<T> {
    fn is_empty(&self) -> bool {
        self.removed.is_none() && self.wakers.iter().all(Option::is_none)
    }

    /// A key that panics when it is dropped takes none along that was handed out in the same
    /// look: until all is dropped, that one would go back in line.
    #[cold]
    fn clear_beside(&mut self, mut ticket: Ticket<T>) -> Ticket<T> {
        ticket.hold();
        *self = Self::default();
        ticket.settled();
        ticket
    }
}

impl<T> Default for Leftovers<T> {
    fn default() -> Self {
        Self {
            removed: None,
            wakers: [None, None],
        }
    }
}

// === impl Inner ===

impl<T> Inner<T> {
    #[inline]
    fn take(
        &mut self,
        taken: &mut Option<Taken<T>>,
        clock: &mut Clock,
        waiter: &mut Option<WaiterId>,
        leftovers: &mut Leftovers<T>,
    ) {
        self.state.take_into(taken, clock);
        if taken.is_some() {
            self.rise(waiter, leftovers);
        }
    }

    /// Does not sleep if there is a key, or none will come any more.
    fn take_or_sleep(
        &mut self,
        taken: &mut Option<Taken<T>>,
        clock: &mut Clock,
        waiter: &mut Option<WaiterId>,
        waker: Waker,
        leftovers: &mut Leftovers<T>,
    ) -> Option<Asleep> {
        self.state.take_into(taken, clock);
        self.rise(waiter, leftovers);
        if taken.is_some() || self.state.phase() != Phase::Open {
            leftovers.wakers[1] = Some(waker);
            return None;
        }
        let earliest = self.state.earliest();
        let (id, armed) = self.waiters.sleep(waker, earliest);
        *waiter = Some(id);
        Some(Asleep(armed))
    }

    /// Ends the sleep of the getter, if it slept.
    fn rise(&mut self, waiter: &mut Option<WaiterId>, leftovers: &mut Leftovers<T>) {
        if let Some(id) = waiter.take() {
            leftovers.wakers[0] = self.waiters.leave(id);
        }
    }
}
