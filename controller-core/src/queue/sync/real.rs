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
/// want it all the time, makes every passage one of the dear kind. So whoever cannot have it at
/// once stays [`AWAY`], and leaves the other a run of passages in its own cache. That is measured
/// in `docs/adr/0005-stay-away-and-remember.md`.
///
/// An unlock wakes nobody. So it is a plain store on x86, and the processor need not wait until
/// that has got through to the cache.
///
/// In practice nobody starves: a thread that was unlucky [`TRIES`] times has the lock promised
/// while it looks for it, and then only such threads take it.
pub(crate) struct Mutex<T> {
    inner: SpinMutex<T>,
    /// How many threads look for the lock that is promised to them.
    promised: AtomicUsize,
}

/// One timer that can be set again and again. Its first use allocates; a `get` that
/// never waits for a deadline has none.
#[derive(Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

/// To this Linux adds the slack of its timers, 50 µs unless somebody has set another.
const AWAY: Duration = Duration::from_micros(20);

/// A thread of two that want the lock all the time is unlucky as often as not; eight times in a
/// row it is so seldom enough, and in half a millisecond.
const TRIES: usize = 8;

/// How often a thread looks for the lock that is promised to it: for one to five microseconds,
/// depending on the processor, and so for some passages.
const LOOKS: usize = 100;

/// If all looks were in vain, the thread that has the lock is not running, or has long to do. Then
/// the absences become longer, up to this.
const LONG_AWAY: Duration = Duration::from_millis(1);

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
            None => self.lock_later(thread::sleep),
        }
    }

    /// Takes the lock, unless it is taken or promised.
    ///
    /// `Relaxed` is enough, since the lock orders the memory. A thread that sees a promise too late
    /// has one passage more.
    #[inline]
    fn try_lock(&self) -> Option<SpinMutexGuard<'_, T>> {
        if self.promised.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.inner.try_lock()
    }

    #[cold]
    fn lock_later(&self, mut stay_away: impl FnMut(Duration)) -> SpinMutexGuard<'_, T> {
        for _ in 0..TRIES {
            stay_away(AWAY);
            if let Some(guard) = self.try_lock() {
                return guard;
            }
        }
        let mut away = AWAY;
        loop {
            if let Some(guard) = self.lock_as_promised() {
                return guard;
            }
            stay_away(away);
            away = LONG_AWAY.min(2 * away);
        }
    }

    /// Looks for the lock, which is nobody's meanwhile to whom it is not promised. No longer than
    /// that: a thread that does not run must not bar the others.
    fn lock_as_promised(&self) -> Option<SpinMutexGuard<'_, T>> {
        self.promised.fetch_add(1, Ordering::Relaxed);
        let guard = (0..LOOKS).find_map(|_| {
            spin_loop();
            // A try that fails would take the lock's line out of the holder's cache.
            let free = !self.inner.is_locked();
            free.then(|| self.inner.try_lock()).flatten()
        });
        self.promised.fetch_sub(1, Ordering::Relaxed);
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

    /// How a thread stays away from a lock that is free after so many absences.
    fn absences(until_free: usize) -> Vec<Duration> {
        let mutex = Mutex::new(());
        let mut held = Some(mutex.lock());
        let mut absences = Vec::new();
        let guard = mutex.lock_later(|away| {
            absences.push(away);
            assert_eq!(mutex.promised.load(Ordering::Relaxed), 0);
            if absences.len() == until_free {
                held = None;
            }
        });
        drop(guard);
        absences
    }

    #[test]
    fn it_is_tried_after_each_absence() {
        assert_eq!(absences(3), [AWAY; 3]);
    }

    #[test]
    fn absences_become_longer_when_nobody_runs_who_has_it() {
        let absences = absences(TRIES + 9);
        let (tries, longer) = absences.split_at(TRIES);
        assert_eq!(tries, [AWAY; TRIES]);
        let micros = longer.iter().map(Duration::as_micros);
        let expected = [20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000];
        assert_eq!(micros.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_promise_bars_only_those_to_whom_none_was_made() {
        let mutex = Mutex::new(());
        let taken = mutex.lock();
        assert!(mutex.lock_as_promised().is_none());
        assert_eq!(mutex.promised.load(Ordering::Relaxed), 0);
        mutex.promised.fetch_add(1, Ordering::Relaxed);
        drop(taken);
        assert!(mutex.try_lock().is_none(), "promised to another");
        assert!(mutex.lock_as_promised().is_some());
        mutex.promised.fetch_sub(1, Ordering::Relaxed);
        assert!(mutex.try_lock().is_some());
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
        assert_eq!(mutex.try_lock().map(|guard| *guard), Some(80_000));
    }
}
