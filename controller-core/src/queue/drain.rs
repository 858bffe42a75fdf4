use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::phase::Progress;
use super::shared::Shared;
use super::waiters::WaiterId;

/// What a shutdown left behind.
///
/// Nothing of it is lost for good in a level-based controller: the next start lists all
/// objects and looks at each. It says how much was left to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Every key in line was worked off.
    pub completed: bool,
    /// Keys whose delay had not passed, retries of the last moment included.
    pub dropped_delayed: usize,
    /// Keys in line or in work when the drain ended. 0 if it completed.
    pub abandoned: usize,
    /// Those of them that were in work: somebody was at it, and may have got somewhere.
    pub abandoned_in_work: usize,
    /// Adds that came after the shutdown and were ignored, so far.
    pub refused: usize,
}

/// Waits until no key is in line or in work, the queue is halted, or the drain is
/// released by a later `shut_down`.
pub(super) struct Drain<T> {
    shared: Arc<Shared<T>>,
    /// The count of releases when this drain began.
    releases: u64,
    waiter: Option<WaiterId>,
}

// === impl Drained ===

impl From<Progress> for Drained {
    fn from(progress: Progress) -> Self {
        Self {
            completed: progress.left == 0,
            dropped_delayed: progress.dropped_delayed,
            abandoned: progress.left,
            abandoned_in_work: progress.left_in_work,
            refused: progress.refused,
        }
    }
}

// === impl Drain ===

impl<T> Drain<T> {
    /// Closes the intake at once, not only when polled.
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        let (_dropped, releases) = shared.update(|inner, clock| {
            let dropped = inner.state.shut_down(clock);
            (dropped, inner.state.progress().releases)
        });
        Self {
            shared,
            releases,
            waiter: None,
        }
    }
}

impl<T> Unpin for Drain<T> {}

impl<T> Future for Drain<T> {
    type Output = Drained;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Drained> {
        let Self {
            shared,
            releases,
            waiter,
        } = &mut *self;
        let waker = cx.waker().clone();
        let (poll, _woken) = shared.update(|inner, _| {
            let before = waiter.take().and_then(|id| inner.waiters.unwatch(id));
            let progress = inner.state.progress();
            if progress.over || progress.releases > *releases {
                return (Poll::Ready(progress.into()), [before, Some(waker)]);
            }
            *waiter = Some(inner.waiters.watch(waker, *releases));
            (Poll::Pending, [before, None])
        });
        poll
    }
}

impl<T> Drop for Drain<T> {
    fn drop(&mut self) {
        if let Some(id) = self.waiter.take() {
            drop(self.shared.update(|inner, _| inner.waiters.unwatch(id)));
        }
    }
}
