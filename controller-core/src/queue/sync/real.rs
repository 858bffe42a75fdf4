use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
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
/// As nobody is woken by an unlock, that is a plain store, which no thread waits for. No thread
/// spins either.
///
/// Nobody starves: who found it taken [`TRIES`] times gets in line with others of that kind, and
/// from then on nobody takes the lock before the first of the line.
pub(crate) struct Mutex<T> {
    inner: SpinMutex<T>,
    /// Somebody has waited for long, and has the next passage.
    promised: AtomicBool,
    /// Those that have waited for long. The holder is the one to whom it is promised.
    line: parking_lot::Mutex<()>,
}

/// One timer that can be set again and again. Its first use allocates; a `get` that
/// never waits for a deadline has none.
#[derive(Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

/// To this the kernel adds what it takes to wake a thread, some 50 µs.
const AWAY: Duration = Duration::from_micros(20);

const TRIES: usize = 8;

/// The clock of the queue: tokio's, which tests can pause.
pub(crate) fn now() -> Instant {
    Instant::now()
}

// === impl Mutex ===

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            inner: SpinMutex::new(value),
            promised: AtomicBool::new(false),
            line: parking_lot::Mutex::new(()),
        }
    }

    #[inline]
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
    /// A promise that is seen too late delays the one who has it by one passage: it orders no
    /// memory, which the lock does.
    #[inline]
    fn try_lock(&self) -> Option<SpinMutexGuard<'_, T>> {
        if self.promised.load(Ordering::Relaxed) {
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
        let _first = self.line.lock();
        self.promised.store(true, Ordering::Relaxed);
        loop {
            if let Some(guard) = self.inner.try_lock() {
                self.promised.store(false, Ordering::Relaxed);
                return guard;
            }
            stay_away();
        }
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
                assert!(!mutex.promised.load(Ordering::Relaxed));
            } else {
                held = None;
                assert!(mutex.inner.try_lock().is_some(), "it is free");
                assert!(mutex.try_lock().is_none(), "but promised");
            }
        });
        assert_eq!(absences, TRIES + 1);
        assert!(!mutex.promised.load(Ordering::Relaxed));
        drop(guard);
        assert!(mutex.try_lock().is_some());
    }

    #[test]
    fn all_who_have_waited_for_long_get_it_one_after_the_other() {
        let mutex = Mutex::new(0);
        let taken = mutex.lock();
        let starving = std::sync::Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut absences = 0;
                    *mutex.lock_later(|| {
                        absences += 1;
                        if absences == TRIES {
                            starving.wait();
                        }
                        thread::yield_now();
                    }) += 1;
                });
            }
            starving.wait();
            drop(taken);
        });
        assert_eq!(*mutex.lock(), 3);
        assert!(!mutex.promised.load(Ordering::Relaxed));
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
