use std::cell::RefCell;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::sync::MutexGuard;
use loom::sync::atomic::{AtomicU64, Ordering};
pub(crate) use tokio::time::Instant;

pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

/// Is ready once [`advance`] has come far enough.
#[derive(Default)]
pub(crate) struct Timer(());

// loom runs all threads of a model as coroutines of one real thread, so these are theirs
// together, and no test sees those of another.
thread_local! {
    static SLEEPING: RefCell<Vec<(Instant, Waker)>> = const { RefCell::new(Vec::new()) };
}

loom::lazy_static! {
    /// In nanoseconds, from 0 in each execution of a model. One of loom's atomics, so that
    /// time can pass between any two steps.
    static ref ELAPSED: AtomicU64 = AtomicU64::new(0);
}

pub(crate) fn now() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    // A mere load may see the past.
    let elapsed = ELAPSED.fetch_add(0, Ordering::SeqCst);
    *START.get_or_init(Instant::now) + Duration::from_nanos(elapsed)
}

/// Lets go of the wakers of an execution, which loom wants to see dropped within it.
pub fn reset() {
    SLEEPING.take();
}

/// Lets time pass, and wakes whose time has come.
pub fn advance(by: Duration) {
    ELAPSED.fetch_add(by.as_nanos() as u64, Ordering::SeqCst);
    let now = now();
    let due =
        SLEEPING.with_borrow_mut(|it| it.extract_if(.., |it| it.0 <= now).collect::<Vec<_>>());
    for (_, waker) in due {
        waker.wake();
    }
}

// === impl Mutex ===

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .expect("invariant: no thread of a model panics")
    }
}

// === impl Timer ===

impl Timer {
    pub(crate) fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        // First of all, for time may pass before it is read.
        SLEEPING.with_borrow_mut(|it| it.push((deadline, cx.waker().clone())));
        if now() >= deadline {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
