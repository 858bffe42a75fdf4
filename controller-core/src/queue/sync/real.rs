use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use parking_lot::MutexGuard;
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
/// Nobody starves: who found it taken [`TRIES`] times queues up as at any other lock.
pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

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
        Self(parking_lot::Mutex::new(value))
    }

    #[inline]
    #[expect(
        clippy::disallowed_methods,
        reason = "a lock blocks its thread in any case; this one says for how long"
    )]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        match self.0.try_lock() {
            Some(guard) => guard,
            None => self.lock_later(|| thread::sleep(AWAY)),
        }
    }

    #[cold]
    fn lock_later(&self, mut stay_away: impl FnMut()) -> MutexGuard<'_, T> {
        for _ in 0..TRIES {
            stay_away();
            if let Some(guard) = self.0.try_lock() {
                return guard;
            }
        }
        self.0.lock()
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

    /// The last try is one that waits its turn.
    #[test]
    fn whoever_never_finds_it_free_waits_for_it() {
        let mutex = Mutex::new(0);
        thread::scope(|scope| {
            let (told, tell) = std::sync::mpsc::channel();
            let mut held = mutex.lock();
            let mutex = &mutex;
            scope.spawn(move || {
                let mut absences = 0;
                let mut guard = mutex.lock_later(|| {
                    absences += 1;
                    if absences == TRIES {
                        told.send(()).unwrap();
                    }
                });
                assert_eq!(absences, TRIES);
                *guard += 1;
            });
            tell.recv().unwrap();
            *held += 1;
        });
        assert_eq!(*mutex.lock(), 2);
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
