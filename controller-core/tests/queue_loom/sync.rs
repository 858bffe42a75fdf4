//! `src/queue/sync.rs`, made of loom's parts.
use std::cell::{Cell, RefCell};
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::sync::MutexGuard;
pub(super) use tokio::time::Instant;

pub(super) struct Mutex<T>(loom::sync::Mutex<T>);

/// Is ready once [`advance`] has come far enough.
#[derive(Default)]
pub(super) struct Timer(());

// loom runs all threads of a model as coroutines of one real thread, so these are theirs
// together, and no test sees those of another.
thread_local! {
    static ELAPSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static SLEEPING: RefCell<Vec<(Instant, Waker)>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn now() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now) + ELAPSED.get()
}

/// Sets the clock back for the next execution of a model, and lets go of its wakers,
/// which loom wants to see dropped within it.
pub(super) fn reset() {
    ELAPSED.set(Duration::ZERO);
    SLEEPING.take();
}

/// Lets time pass, and wakes whose time has come.
pub(super) fn advance(by: Duration) {
    ELAPSED.set(ELAPSED.get() + by);
    let now = now();
    let due =
        SLEEPING.with_borrow_mut(|it| it.extract_if(.., |it| it.0 <= now).collect::<Vec<_>>());
    for (_, waker) in due {
        waker.wake();
    }
}

// === impl Mutex ===

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("no thread of a model panics")
    }
}

// === impl Timer ===

impl Timer {
    pub(super) fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if now() >= deadline {
            return Poll::Ready(());
        }
        SLEEPING.with_borrow_mut(|it| it.push((deadline, cx.waker().clone())));
        Poll::Pending
    }
}
