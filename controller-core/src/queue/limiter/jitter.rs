use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::{LimiterError, RateLimiter};

/// Another limiter, whose waits are made longer by chance. It counts as it did.
///
/// Keys that failed together, since a server was down, come back together with any limiter
/// of client-go. With a jitter of 0.1 a wait of 10 s is one of 10 to 11 s, as with
/// apimachinery's `wait.Jitter`. A wait never becomes shorter, so the pause that a limiter
/// promises is kept; put [`WithMaxWait`](super::WithMaxWait) around it where the longest wait
/// is a promise too.
///
/// ```
/// use controller_core::queue::{ItemExponentialFailure, Jitter, RateLimiter, WithMaxWait};
/// use tokio::time::Duration;
///
/// # fn main() -> Result<(), controller_core::queue::LimiterError> {
/// let (base, max) = (Duration::from_millis(500), Duration::from_secs(900));
/// let spread = Jitter::new(ItemExponentialFailure::new(base, max)?, 0.1)?;
/// let limiter = WithMaxWait::new(spread, max)?;
/// let wait = limiter.when(&"shop/web");
/// assert!(wait >= base && wait < base.mul_f64(1.1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Jitter<L> {
    inner: L,
    share: f64,
    random: Mutex<SmallRng>,
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

    fn with(inner: L, share: f64, random: SmallRng) -> Result<Self, LimiterError> {
        // So written that NaN is refused.
        if !(0.0..=1.0).contains(&share) {
            return Err(LimiterError::NotAShare(share));
        }
        Ok(Self {
            inner,
            share,
            random: Mutex::new(random),
        })
    }
}

impl<T, L: RateLimiter<T>> RateLimiter<T> for Jitter<L> {
    fn when(&self, item: &T) -> Duration {
        let wait = self.inner.when(item);
        let chance: f64 = self.random.lock().random();
        let longer = Duration::try_from_secs_f64(wait.as_secs_f64() * self.share * chance);
        wait.saturating_add(longer.unwrap_or(Duration::MAX))
    }

    fn forget(&self, item: &T) {
        self.inner.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.inner.num_requeues(item)
    }
}
