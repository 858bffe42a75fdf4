use std::time::Duration;

use super::sync::{Instant, now};

/// Nanoseconds since the queue's epoch, from [`FIRST`] on: half the size of an [`Instant`]. They
/// last for 584 years.
pub(super) type Nanos = u64;

/// In place of a time that nobody noted.
pub(super) const UNKNOWN: Nanos = 0;

/// The epoch itself.
const FIRST: Nanos = 1;

/// A longer delay is cut to this. Nobody waits for it, and `now + delay` cannot overflow.
const LONGEST_DELAY: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A timer knows milliseconds, so deadlines are whole ones, too, no earlier than asked for. Keys
/// that a burst delays by one time become due together then, in the order in which they were
/// added and so in the order of the memory, and not in one that a few nanoseconds between two
/// readings of the clock decide. See `docs/adr/0006-deadlines-in-milliseconds.md`.
const TICK: Nanos = 1_000_000;

/// What time it is during one change of the queue, read once and only if it matters: a
/// reading costs as much as the rest of an add.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    epoch: Instant,
    read: Option<Nanos>,
    stamping: bool,
}

/// How long something took, in half the size of an `Option<Duration>`.
#[derive(Clone, Copy)]
pub(super) struct Took(Nanos);

// === impl Clock ===

impl Clock {
    /// A clock that is read when it is first asked. With `stamping` it notes when keys come
    /// and go, too, and is read at once: outside of the lock.
    #[inline]
    pub(super) fn new(epoch: Instant, stamping: bool) -> Self {
        let mut clock = Self {
            epoch,
            read: None,
            stamping,
        };
        if stamping {
            clock.now();
        }
        clock
    }

    /// A clock that has been read, and takes note.
    #[cfg(test)]
    pub(super) fn at(now: Nanos) -> Self {
        Self {
            epoch: Instant::now(),
            read: Some(now),
            stamping: true,
        }
    }

    pub(super) fn now(&mut self) -> Nanos {
        let epoch = self.epoch;
        *self.read.get_or_insert_with(|| {
            let elapsed = now().saturating_duration_since(epoch);
            u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX - FIRST) + FIRST
        })
    }

    /// The first whole millisecond at which `delay` is over.
    pub(super) fn after(&mut self, delay: Duration) -> Nanos {
        let delay = delay.min(LONGEST_DELAY).as_nanos();
        let delay = u64::try_from(delay).expect("invariant: a year is 2^55 ns");
        (self.now() - FIRST + delay).next_multiple_of(TICK) + FIRST
    }

    /// The time to note for what happens now.
    #[inline]
    pub(super) fn stamp(&mut self) -> Nanos {
        if self.stamping { self.now() } else { UNKNOWN }
    }

    /// The time to note for what happened at `at`.
    pub(super) const fn stamp_at(&self, at: Nanos) -> Nanos {
        if self.stamping { at } else { UNKNOWN }
    }

    /// The time `at`, as a timer wants it.
    pub(super) fn instant(epoch: Instant, at: Nanos) -> Instant {
        epoch + Duration::from_nanos(at - FIRST)
    }
}

// === impl Took ===

impl Took {
    /// From `since` to `until`, if both were noted.
    #[inline]
    pub(super) const fn between(since: Nanos, until: Nanos) -> Self {
        if since == UNKNOWN || until == UNKNOWN {
            return Self(UNKNOWN);
        }
        Self(until.saturating_sub(since) + 1)
    }

    #[inline]
    pub(super) const fn duration(self) -> Option<Duration> {
        match self.0 {
            UNKNOWN => None,
            nanos => Some(Duration::from_nanos(nanos - 1)),
        }
    }
}
