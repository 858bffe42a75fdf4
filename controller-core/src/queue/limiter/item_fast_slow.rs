use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use super::failures::Failures;
use super::limiter_error::SHORTEST_PAUSE;
use super::{LimiterError, RateLimiter};

/// Each key by itself: `fast` for the first `tries` failures, `slow` from then on.
///
/// For work that mostly succeeds at the second try, such as one that waits for another
/// controller.
///
/// ```
/// use controller_core::queue::{ItemFastSlow, RateLimiter};
/// use tokio::time::Duration;
///
/// # fn main() -> Result<(), controller_core::queue::LimiterError> {
/// // One second three times, then ten.
/// let (fast, slow) = (Duration::from_secs(1), Duration::from_secs(10));
/// let limiter = ItemFastSlow::new(fast, slow, 3)?;
/// let waits = [(); 5].map(|()| limiter.when(&"shop/web"));
/// assert_eq!(waits, [fast, fast, fast, slow, slow]);
/// # Ok(())
/// # }
/// ```
///
/// The dangerous mistake is a `fast` of zero with many `tries`: it is allowed, and a key
/// that fails at once fails so many times at once.
pub struct ItemFastSlow<T> {
    fast: Duration,
    slow: Duration,
    tries: u32,
    failures: Failures<T>,
}

// === impl ItemFastSlow ===

impl<T> ItemFastSlow<T> {
    /// Waits `fast` after each of the first `tries` failures, then `slow`.
    ///
    /// # Errors
    ///
    /// [`SlowTooShort`](LimiterError::SlowTooShort), below 1 ms, and
    /// [`SlowBelowFast`](LimiterError::SlowBelowFast).
    pub fn new(fast: Duration, slow: Duration, tries: u32) -> Result<Self, LimiterError> {
        if slow < SHORTEST_PAUSE {
            return Err(LimiterError::SlowTooShort(slow));
        }
        if slow < fast {
            return Err(LimiterError::SlowBelowFast { fast, slow });
        }
        Ok(Self {
            fast,
            slow,
            tries,
            failures: Failures::new(),
        })
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> RateLimiter<T> for ItemFastSlow<T> {
    fn when(&self, item: &T) -> Duration {
        if self.failures.count(item) < self.tries {
            self.fast
        } else {
            self.slow
        }
    }

    fn forget(&self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.of(item)
    }
}

impl<T> fmt::Debug for ItemFastSlow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemFastSlow")
            .field("fast", &self.fast)
            .field("slow", &self.slow)
            .field("tries", &self.tries)
            .field("failing", &self.failures.failing())
            .finish()
    }
}
