use std::fmt;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::phase::Phase;
use super::shared::Shared;
use super::sync::Timer;
use super::ticket::Ticket;
use super::waiters::WaiterId;

/// Waits for a key: see [`WorkQueue::get`](super::WorkQueue::get).
///
/// Takes its key in the very poll that returns it, so dropping it at any time loses
/// nothing; if it had been woken, another waiting `Get` is woken in its stead.
///
/// The dangerous mistake is to keep a `Get` without polling it: the queue may have woken
/// this one, and counts on it.
#[must_use = "a `Get` does nothing unless it is awaited"]
pub struct Get<T: Clone> {
    shared: Arc<Shared<T>>,
    /// Set while this future sleeps, and until it sees that it was woken.
    waiter: Option<WaiterId>,
    timer: Timer,
}

// === impl Get ===

impl<T: Clone> Get<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            shared,
            waiter: None,
            timer: Timer::default(),
        }
    }
}

// Nothing is pinned in place: the timer is boxed.
impl<T: Clone> Unpin for Get<T> {}

impl<T: Clone> Future for Get<T> {
    type Output = Option<Ticket<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self {
            shared,
            waiter,
            timer,
        } = &mut *self;
        loop {
            let step = shared.update(|inner, _| {
                if let Some(id) = waiter.take() {
                    inner.waiters.leave(id);
                }
                if let Some(taken) = inner.state.take() {
                    return ControlFlow::Break(Some(taken));
                }
                if inner.state.phase() != Phase::Open {
                    return ControlFlow::Break(None);
                }
                let earliest = inner.state.earliest();
                let (id, armed) = inner.waiters.sleep(cx.waker().clone(), earliest);
                *waiter = Some(id);
                ControlFlow::Continue(armed)
            });
            match step {
                ControlFlow::Break(taken) => {
                    return Poll::Ready(taken.map(|it| Ticket::new(Arc::clone(shared), it)));
                }
                ControlFlow::Continue(None) => return Poll::Pending,
                ControlFlow::Continue(Some(deadline)) => {
                    ready!(timer.poll_until(deadline, cx));
                }
            }
        }
    }
}

impl<T: Clone> Drop for Get<T> {
    fn drop(&mut self) {
        if let Some(id) = self.waiter.take() {
            self.shared.update(|inner, _| inner.waiters.leave(id));
        }
    }
}

impl<T: Clone> fmt::Debug for Get<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Get").finish_non_exhaustive()
    }
}
