use std::hint::spin_loop;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use spin::mutex::{SpinMutex, SpinMutexGuard};
pub(crate) use tokio::time::Instant;
use tokio::time::{Sleep, sleep_until};

/// A lock for passages that are short, but many.
///
/// A passage reads what the one before wrote. On one core that costs 50 ns; from the cache of
/// another core it takes ten times as long. A lock that changes hands at once, when two threads
/// want it all the time, makes every passage one of the dear kind. So whoever finds it taken
/// stays [`AWAY`], and leaves the other a run of passages in its own cache. That is measured in
/// `docs/adr/0005-stay-away-and-remember.md`.
///
/// As an unlock wakes nobody, it is a plain store, which no thread waits for.
///
/// Nobody starves: to whoever found it taken [`TRIES`] times it is promised, and then only those
/// take it to whom it is. That is soon over, since whoever had the lock before stays away for
/// [`TRIES`] times, too, before they are one of them again.
pub(crate) struct Mutex<T> {
    inner: SpinMutex<T>,
    /// How many it is promised to.
    promised: AtomicUsize,
}

/// One timer that can be set again and again. Its first use allocates; a `get` that
/// never waits for a deadline has none.
#[derive(Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

/// To this the kernel adds what it takes to wake a thread, some 50 µs.
const AWAY: Duration = Duration::from_micros(20);

const TRIES: usize = 8;

/// How often they look whether it is free to whom it is promised, before they stay away once more:
/// some microseconds, and so a few passages. Meanwhile the lock is nobody else's.
const LOOKS: usize = 100;

/// The clock of the queue: tokio's, which tests can pause.
pub(crate) fn now() -> Instant {
    Instant::now()
}

// === impl Mutex ===

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            inner: SpinMutex::new(value),
            promised: AtomicUsize::new(0),
        }
    }

    #[inline]
    #[must_use = "it is unlocked on the spot"]
    #[expect(
        clippy::disallowed_methods,
        reason = "a lock blocks its thread in any case; this one says for how long"
    )]
    pub(crate) fn lock(&self) -> SpinMutexGuard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => self.lock_later(|| thread::sleep(AWAY)),
        }
    }

    /// Takes the lock, unless it is taken or promised.
    ///
    /// Whoever sees a promise too late has one passage more: it orders no memory, which the lock
    /// does.
    #[inline]
    fn try_lock(&self) -> Option<SpinMutexGuard<'_, T>> {
        if self.promised.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.inner.try_lock()
    }

    #[cold]
    fn lock_later(&self, mut stay_away: impl FnMut()) -> SpinMutexGuard<'_, T> {
        for _ in 0..TRIES {
            stay_away();
            if let Some(guard) = self.try_lock() {
                return guard;
            }
        }
        self.promised.fetch_add(1, Ordering::Relaxed);
        let guard = loop {
            if let Some(guard) = (0..LOOKS).find_map(|_| self.look()) {
                break guard;
            }
            stay_away();
        };
        self.promised.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Takes the lock, unless it is taken.
    fn look(&self) -> Option<SpinMutexGuard<'_, T>> {
        let guard = if self.inner.is_locked() {
            None
        } else {
            self.inner.try_lock()
        };
        if guard.is_none() {
            spin_loop();
        }
        guard
    }
}

// === impl Timer ===

impl Timer {
    /// Is ready from `deadline` on, and wakes the task then.
    pub(crate) fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = match &mut self.0 {
            Some(sleep) => {
                if sleep.deadline() != deadline {
                    sleep.as_mut().reset(deadline);
                }
                sleep
            }
            None => self.0.insert(Box::pin(sleep_until(deadline))),
        };
        sleep.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_tried_after_each_absence() {
        let mutex = Mutex::new(());
        let mut held = Some(mutex.lock());
        let mut absences = 0;
        let guard = mutex.lock_later(|| {
            absences += 1;
            if absences == 3 {
                held = None;
            }
        });
        assert_eq!(absences, 3);
        drop(guard);
    }

    /// From then on nobody else gets it first, however often they come by.
    #[test]
    fn who_has_waited_for_long_is_the_next() {
        let mutex = Mutex::new(());
        let mut held = Some(mutex.lock());
        let mut absences = 0;
        let guard = mutex.lock_later(|| {
            absences += 1;
            if absences <= TRIES {
                assert_eq!(mutex.promised.load(Ordering::Relaxed), 0);
            } else {
                held = None;
                assert!(mutex.look().is_some(), "it is free");
                assert!(mutex.try_lock().is_none(), "but promised");
            }
        });
        assert_eq!(absences, TRIES + 1);
        assert_eq!(mutex.promised.load(Ordering::Relaxed), 0);
        drop(guard);
        assert!(mutex.try_lock().is_some());
    }

    #[test]
    fn all_who_have_waited_for_long_get_it_while_nobody_else_does() {
        const LONG: usize = 3;
        let mutex = Mutex::new(0);
        let taken = mutex.lock();
        thread::scope(|scope| {
            for _ in 0..LONG {
                scope.spawn(|| *mutex.lock_later(thread::yield_now) += 1);
            }
            while mutex.promised.load(Ordering::Relaxed) < LONG {
                thread::yield_now();
            }
            assert_eq!(*taken, 0);
            drop(taken);
            let others = std::iter::repeat_with(|| mutex.try_lock()).flatten();
            assert_eq!(others.map(|guard| *guard).next(), Some(LONG));
        });
    }

    #[test]
    fn threads_that_meet_all_the_time_all_get_through() {
        let mutex = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        *mutex.lock() += 1;
                    }
                });
            }
        });
        assert_eq!(*mutex.lock(), 80_000);
    }
}
