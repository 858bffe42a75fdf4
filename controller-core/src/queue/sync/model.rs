use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub(crate) use tokio::time::Instant;

/// The lock of a model's one queue is the lock of its world, in which time passes as well.
///
/// A passage reads the clock once at most, and within the lock unless the queue takes timestamps,
/// which no model does. So time that passes within one is time that passed before it, or passes
/// after it, and need not be tried besides: it passes under this lock. That is what makes it
/// possible to try every interleaving of a model with delays.
pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

/// The state of the queue, and of nobody else as long as this lives.
pub(crate) struct MutexGuard<'a, T> {
    // Dropped in this order.
    state: parking_lot::MutexGuard<'a, T>,
    _world: loom::sync::MutexGuard<'static, ()>,
}

/// Is ready once [`advance`] has come far enough.
#[derive(Default)]
pub(crate) struct Timer(());

// loom runs all threads of a model as coroutines of one real thread, so these are theirs
// together, and no test sees those of another.
thread_local! {
    /// Nanoseconds, from 0 in each execution of a model.
    static ELAPSED: Cell<u64> = const { Cell::new(0) };
    static SLEEPING: RefCell<Vec<(Instant, Waker)>> = const { RefCell::new(Vec::new()) };
}

loom::lazy_static! {
    static ref WORLD: loom::sync::Mutex<()> = loom::sync::Mutex::new(());
    /// What a timer does is done in one step, too.
    static ref TIMERS: loom::sync::Mutex<()> = loom::sync::Mutex::new(());
}

/// To be called with one of the two locks, both of which are needed to change it, or before there
/// are threads.
pub(crate) fn now() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now) + Duration::from_nanos(ELAPSED.get())
}

/// Begins another execution. Lets go of the wakers of the last one, which loom wants to see
/// dropped within it.
pub fn reset() {
    ELAPSED.set(0);
    SLEEPING.take();
}

/// Lets time pass, and wakes whose time has come.
pub fn advance(by: Duration) {
    let due: Vec<_> = {
        let _world = locked(&WORLD);
        let _timers = locked(&TIMERS);
        ELAPSED.set(ELAPSED.get() + by.as_nanos() as u64);
        let now = now();
        SLEEPING.with_borrow_mut(|it| it.extract_if(.., |it| it.0 <= now).collect())
    };
    for (_, waker) in due {
        waker.wake();
    }
}

fn locked(lock: &'static loom::sync::Mutex<()>) -> loom::sync::MutexGuard<'static, ()> {
    lock.lock().expect("invariant: no thread of a model panics")
}

// === impl Mutex ===

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(parking_lot::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        let world = locked(&WORLD);
        let state = self.0.try_lock();
        MutexGuard {
            state: state.expect("invariant: whoever has the world's lock is alone"),
            _world: world,
        }
    }
}

// === impl MutexGuard ===

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}

// === impl Timer ===

impl Timer {
    pub(crate) fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let _timers = locked(&TIMERS);
        if now() >= deadline {
            return Poll::Ready(());
        }
        SLEEPING.with_borrow_mut(|it| it.push((deadline, cx.waker().clone())));
        Poll::Pending
    }
}
