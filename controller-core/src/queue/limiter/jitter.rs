use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::limiter_error::SHORTEST_PAUSE;
use super::{LimiterError, RateLimiter};

/// Another limiter, whose waits are made longer by chance. It counts as it did.
///
/// Keys that failed together, since a server was down, come back together with any limiter
/// of client-go. With a jitter of 0.1 a wait of 10 s is one of 10 to 11 s, as with
/// apimachinery's `wait.Jitter`. A wait never becomes shorter, so the pause that a limiter
/// promises is kept. Where the longest wait is a promise too, say it
/// [here](Self::at_most): [`WithMaxWait`](super::WithMaxWait) around it would cut all waits
/// that chance made too long to one and the same.
///
/// ```
/// use controller_core::queue::{ItemExponentialFailure, Jitter, RateLimiter};
/// use tokio::time::Duration;
///
/// # fn main() -> Result<(), controller_core::queue::LimiterError> {
/// let (base, max) = (Duration::from_millis(500), Duration::from_secs(900));
/// let limiter = Jitter::new(ItemExponentialFailure::new(base, max)?, 0.1)?.at_most(max)?;
/// let wait = limiter.when(&"shop/web");
/// assert!(wait >= base && wait < base.mul_f64(1.1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Jitter<L> {
    inner: L,
    share: f64,
    longest: Option<Duration>,
    random: Mutex<SmallRng>,
}

/// The share of chance in the waits of a run: an outage ends for all objects at once, and they
/// should not all come at once.
pub(crate) const TENTH: f64 = 0.1;

/// `wait`, longer by that part of `share` of it which `chance` says, a number from 0 to 1. Where
/// that could be longer than `longest`, the window is moved so that it ends there.
pub(crate) fn spread(
    wait: Duration,
    share: f64,
    longest: Option<Duration>,
    chance: f64,
) -> Duration {
    let wait = wait.min(longest.unwrap_or(Duration::MAX));
    let of_share = |part: f64| {
        Duration::try_from_secs_f64(wait.as_secs_f64() * share * part).unwrap_or(Duration::MAX)
    };
    let (least, most) = match longest {
        Some(longest) => (wait.min(longest.saturating_sub(of_share(1.0))), longest),
        None => (wait, Duration::MAX),
    };
    least.saturating_add(of_share(chance)).min(most)
}

// === impl Jitter ===

impl<L> Jitter<L> {
    /// Adds up to `share` of each wait of `inner`, another one each time and in each process.
    ///
    /// # Errors
    ///
    /// [`NotAShare`](LimiterError::NotAShare) if `share` is not from 0 to 1. With 0 the waits
    /// stay as they are.
    pub fn new(inner: L, share: f64) -> Result<Self, LimiterError> {
        Self::with(inner, share, rand::make_rng())
    }

    /// Like [`new`](Self::new), but with the same waits for the same `seed`, so that a test
    /// can be repeated.
    ///
    /// # Errors
    ///
    /// As with `new`.
    pub fn seeded(inner: L, share: f64, seed: u64) -> Result<Self, LimiterError> {
        Self::with(inner, share, SmallRng::seed_from_u64(seed))
    }

    /// No wait is longer than `longest`. One that chance could make so is taken from the
    /// share below it: with a jitter of 0.1 and at most 100 s, a wait of 100 s or more is one
    /// of 90 to 100 s. So keys that fail for long come back apart from each other too.
    ///
    /// # Errors
    ///
    /// [`MaxWaitTooShort`](LimiterError::MaxWaitTooShort) if `longest` is below 1 ms.
    pub fn at_most(self, longest: Duration) -> Result<Self, LimiterError> {
        if longest < SHORTEST_PAUSE {
            return Err(LimiterError::MaxWaitTooShort(longest));
        }
        Ok(Self {
            longest: Some(longest),
            ..self
        })
    }

    fn with(inner: L, share: f64, random: SmallRng) -> Result<Self, LimiterError> {
        // So written that NaN is refused.
        if !(0.0..=1.0).contains(&share) {
            return Err(LimiterError::NotAShare(share));
        }
        Ok(Self {
            inner,
            share,
            longest: None,
            random: Mutex::new(random),
        })
    }
}

impl<T, L: RateLimiter<T>> RateLimiter<T> for Jitter<L> {
    fn when(&self, item: &T) -> Duration {
        let wait = self.inner.when(item);
        let chance = self.random.lock().random();
        spread(wait, self.share, self.longest, chance)
    }

    fn forget(&self, item: &T) {
        self.inner.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.inner.num_requeues(item)
    }
}
