use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::RateLimiter;

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

/// The wait of a bucket that is never refilled.
const FOREVER: Duration = Duration::MAX;

// === impl Bucket ===

impl Bucket {
    /// A full bucket of `burst` tokens, which gains `per_second` tokens a second.
    ///
    /// One that gains none, once it is empty, delays for ever.
    pub fn new(per_second: f64, burst: u32) -> Self {
        let burst = f64::from(burst);
        Self {
            per_second: per_second.max(0.0),
            burst,
            level: Mutex::new(Level {
                tokens: burst,
                at: Instant::now(),
            }),
        }
    }
}

impl<T> RateLimiter<T> for Bucket {
    fn when(&self, _: &T) -> Duration {
        let now = Instant::now();
        let missing = {
            let mut level = self.level.lock();
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
