use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use super::clock::{Clock, Nanos};
use super::phase::Phase;
use super::shared::{Inner, Shared};
use super::state::{BROKEN, Broken, Taken};
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
pub struct Get<T: Clone> {
    /// `None` once the ticket has it.
    shared: Option<Arc<Shared<T>>>,
    /// The work that is done as soon as this is polled.
    done: Option<WorkId>,
    /// Set while this future sleeps, and until it sees that it was woken.
    waiter: Option<WaiterId>,
    timer: Timer,
}

/// What a look at the queue brought.
struct Look<T> {
    found: Found<T>,
    /// The deadline that the timer must be set to, if the getter sleeps and keeps the time.
    armed: Option<Nanos>,
    /// Wakers that are of no use any more, to be dropped once the lock is released.
    spent: [Option<Waker>; 2],
    /// Keys that could not be handed out.
    broken: Vec<Broken<T>>,
}

enum Found<T> {
    Key(Taken<T>),
    /// No key will come any more.
    End,
    Nothing,
}

// === impl Get ===

impl<T: Clone> Get<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            shared: Some(shared),
            done: None,
            waiter: None,
            timer: Timer::default(),
        }
    }

    /// Ends this work first.
    pub(super) fn after(shared: Arc<Shared<T>>, work: WorkId) -> Self {
        let mut get = Self::new(shared);
        get.done = Some(work);
        get
    }
}

// Nothing is pinned in place: the timer is boxed.
impl<T: Clone> Unpin for Get<T> {}

impl<T: Clone> Future for Get<T> {
    type Output = Option<Ticket<T>>;

    /// # Panics
    /// Once it has returned a ticket.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let shared = this.shared.as_ref();
        let shared = shared.expect("invariant: a future is not polled once it was ready");
        loop {
            // A key is there more often than not, and then nobody needs a waker.
            let (mut look, _removed) = shared.update(|inner, clock| {
                let removed = this.done.take();
                let removed = removed.and_then(|work| inner.state.done(work, clock));
                (inner.look(clock, &mut this.waiter), removed)
            });
            look.tell_of_broken();
            if let Found::Nothing = look.found {
                let waker = cx.waker().clone();
                look = shared
                    .update(|inner, clock| inner.look_or_sleep(clock, &mut this.waiter, waker));
                look.tell_of_broken();
            }
            match look.found {
                Found::Key(taken) => {
                    let shared = this.shared.take();
                    let shared = shared.expect("invariant: it was there above");
                    return Poll::Ready(Some(Ticket::new(shared, taken)));
                }
                Found::End => return Poll::Ready(None),
                Found::Nothing => match look.armed {
                    None => return Poll::Pending,
                    Some(at) => ready!(this.timer.poll_until(shared.instant(at), cx)),
                },
            }
        }
    }
}

impl<T: Clone> Drop for Get<T> {
    fn drop(&mut self) {
        let (done, waiter) = (self.done.take(), self.waiter.take());
        let Some(shared) = self.shared.take() else {
            return;
        };
        if done.is_none() && waiter.is_none() {
            return;
        }
        drop(shared.update(|inner, clock| {
            let removed = done.and_then(|work| inner.state.done(work, clock));
            let waker = waiter.and_then(|id| inner.waiters.leave(id));
            (removed, waker)
        }));
    }
}

impl<T: Clone> fmt::Debug for Get<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Get").finish_non_exhaustive()
    }
}

// === impl Look ===

impl<T> Look<T> {
    /// The panic hook has told where each panicked. What a key or a panic does when it is
    /// dropped is not known, but the lock is free again.
    fn tell_of_broken(&mut self) {
        for Broken { payload, item } in self.broken.drain(..) {
            match &item {
                None => tracing::error!(
                    "a key panicked when it was cloned, the next try is in {BROKEN:?}"
                ),
                Some(_) => tracing::error!(
                    "a key panicked when it was cloned, and is dropped at the shutdown"
                ),
            }
            drop((payload, item));
        }
    }
}

// === impl Inner ===

impl<T: Clone> Inner<T> {
    fn look(&mut self, clock: &mut Clock, waiter: &mut Option<WaiterId>) -> Look<T> {
        let found = match self.state.take(clock) {
            Some(taken) => Found::Key(taken),
            None if self.state.phase() != Phase::Open => Found::End,
            None => Found::Nothing,
        };
        let left = match found {
            Found::Nothing => None,
            _ => waiter.take().and_then(|id| self.waiters.leave(id)),
        };
        Look {
            found,
            armed: None,
            spent: [left, None],
            broken: std::mem::take(&mut self.state.broken),
        }
    }

    fn look_or_sleep(
        &mut self,
        clock: &mut Clock,
        waiter: &mut Option<WaiterId>,
        waker: Waker,
    ) -> Look<T> {
        let mut look = self.look(clock, waiter);
        match look.found {
            Found::Nothing => {
                look.spent[1] = waiter.take().and_then(|id| self.waiters.leave(id));
                let earliest = self.state.earliest();
                let (id, armed) = self.waiters.sleep(waker, earliest);
                *waiter = Some(id);
                look.armed = armed;
            }
            _ => look.spent[1] = Some(waker),
        }
        look
    }
}
