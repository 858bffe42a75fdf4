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

enum Found<T> {
    Key(Taken<T>),
    /// No key will come any more.
    End,
    /// The getter sleeps, if it was to, and keeps the time until then, if any.
    Nothing {
        armed: Option<Nanos>,
    },
}

// === impl Get ===

impl<T> Get<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            shared: Some(shared),
            done: None,
            waiter: None,
            timer: Timer::default(),
        }
    }

    /// Ends this work first.
    pub(super) fn after(shared: Arc<Shared<T>>, work: WorkId, item: T) -> Self {
        let mut get = Self::new(shared);
        get.done = Some((work, item));
        get
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
            // A key is there more often than not, and then nobody needs a waker.
            let mut found = shared.update(|inner, clock| {
                if let Some((work, item)) = this.done.take() {
                    leftovers.removed = inner.state.done(work, item, clock);
                }
                inner.look(clock, &mut this.waiter, &mut leftovers)
            });
            if let Found::Nothing { .. } = found {
                let waker = cx.waker().clone();
                found = shared.update(|inner, clock| {
                    inner.look_or_sleep(clock, &mut this.waiter, waker, &mut leftovers)
                });
            }
            match found {
                Found::Key(taken) => {
                    let shared = this.shared.take();
                    let shared = shared.expect("invariant: it was there above");
                    let mut ticket = Ticket::new(shared, taken);
                    if !leftovers.is_empty() {
                        leftovers.clear_beside(&mut ticket);
                    }
                    return Poll::Ready(Some(ticket));
                }
                Found::End => {
                    leftovers.clear();
                    return Poll::Ready(None);
                }
                Found::Nothing { armed } => {
                    leftovers.clear();
                    match armed {
                        None => return Poll::Pending,
                        Some(at) => ready!(this.timer.poll_until(shared.instant(at), cx)),
                    }
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
    fn clear_beside(&mut self, ticket: &mut Ticket<T>) {
        ticket.hold();
        self.clear();
        ticket.settled();
    }

    fn clear(&mut self) {
        *self = Self::default();
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
    fn look(
        &mut self,
        clock: &mut Clock,
        waiter: &mut Option<WaiterId>,
        leftovers: &mut Leftovers<T>,
    ) -> Found<T> {
        let found = match self.state.take(clock) {
            Some(taken) => Found::Key(taken),
            None if self.state.phase() != Phase::Open => Found::End,
            None => Found::Nothing { armed: None },
        };
        if !matches!(found, Found::Nothing { .. }) {
            self.rise(waiter, leftovers);
        }
        found
    }

    fn look_or_sleep(
        &mut self,
        clock: &mut Clock,
        waiter: &mut Option<WaiterId>,
        waker: Waker,
        leftovers: &mut Leftovers<T>,
    ) -> Found<T> {
        let mut found = self.look(clock, waiter, leftovers);
        if let Found::Nothing { armed } = &mut found {
            self.rise(waiter, leftovers);
            let earliest = self.state.earliest();
            let (id, until) = self.waiters.sleep(waker, earliest);
            *waiter = Some(id);
            *armed = until;
        } else {
            leftovers.wakers[1] = Some(waker);
        }
        found
    }

    /// Ends the sleep of the getter, if it slept.
    fn rise(&mut self, waiter: &mut Option<WaiterId>, leftovers: &mut Leftovers<T>) {
        if let Some(id) = waiter.take() {
            leftovers.wakers[0] = self.waiters.leave(id);
        }
    }
}
