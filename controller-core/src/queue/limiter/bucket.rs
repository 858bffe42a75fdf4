use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::{LimiterError, RateLimiter};

/// All keys together: `burst` retries at once, then `per_second`.
///
/// A token bucket whose future tokens are reserved, as client-go's: the k-th call beyond
/// the burst waits `k / per_second`. It counts no failures, so it is of use only inside a
/// [`MaxOf`](super::MaxOf).
///
/// A reservation is never given back: a key that is added by an event meanwhile has taken
/// its token for nothing.
///
/// The dangerous mistake is to use it where one key may fail for long: that key takes
/// the tokens of all others. Our default has no bucket for this reason.
///
/// ```
/// use controller_core::queue::{Bucket, RateLimiter};
/// use tokio::time::Duration;
///
/// # fn main() -> Result<(), controller_core::queue::LimiterError> {
/// let limiter = Bucket::new(0.1, 1)?;
/// assert_eq!(limiter.when(&"shop/web"), Duration::ZERO);
/// let second = limiter.when(&"shop/cart").as_secs_f64();
/// assert!(second > 9.0 && second <= 10.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Bucket {
    per_second: f64,
    burst: f64,
    level: Mutex<Level>,
}

#[derive(Debug)]
struct Level {
    /// Below zero when future tokens are reserved.
    tokens: f64,
    at: Instant,
}

/// Tokens a second. A queue cuts a longer wait to a year, so that a lower rate would not be
/// what it says.
const ONE_A_YEAR: f64 = 1.0 / (365.0 * 24.0 * 60.0 * 60.0);

/// The wait of which no `Duration` can be made.
const FOREVER: Duration = Duration::MAX;

// === impl Bucket ===

impl Bucket {
    /// A full bucket of `burst` tokens, which gains `per_second` tokens a second.
    ///
    /// # Errors
    ///
    /// [`NotARate`](LimiterError::NotARate) if `per_second` is not above zero, not a number or
    /// infinite, [`RateTooLow`](LimiterError::RateTooLow) if it is below one token a year, and
    /// [`ZeroBurst`](LimiterError::ZeroBurst).
    pub fn new(per_second: f64, burst: u32) -> Result<Self, LimiterError> {
        if !per_second.is_finite() || per_second <= 0.0 {
            return Err(LimiterError::NotARate(per_second));
        }
        if per_second < ONE_A_YEAR {
            return Err(LimiterError::RateTooLow(per_second));
        }
        if burst == 0 {
            return Err(LimiterError::ZeroBurst);
        }
        Ok(Self::full(per_second, burst))
    }

    fn full(per_second: f64, burst: u32) -> Self {
        let burst = f64::from(burst);
        Self {
            per_second,
            burst,
            level: Mutex::new(Level {
                tokens: burst,
                at: Instant::now(),
            }),
        }
    }
}

impl Default for Bucket {
    /// client-go's: 10 tokens a second, 100 at once.
    fn default() -> Self {
        Self::full(10.0, 100)
    }
}

impl<T> RateLimiter<T> for Bucket {
    fn when(&self, _: &T) -> Duration {
        let missing = {
            let mut level = self.level.lock();
            // Read under the lock: an older time than the last one would have the bucket
            // gain the tokens between the two once more.
            let now = Instant::now();
            let gained = (now - level.at).as_secs_f64() * self.per_second;
            level.tokens = (level.tokens + gained).min(self.burst) - 1.0;
            level.at = now;
            -level.tokens
        };
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(missing / self.per_second).unwrap_or(FOREVER)
    }

    fn forget(&self, _: &T) {}

    fn num_requeues(&self, _: &T) -> u32 {
        0
    }
}
