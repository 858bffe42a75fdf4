use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use super::failures::Failures;
use super::limiter_error::SHORTEST_PAUSE;
use super::{LimiterError, RateLimiter};

/// Each key by itself: `base`, twice that, four times, …, at most `max`.
///
/// The default of a [`WorkQueue`](crate::queue::WorkQueue), with controller-runtime's
/// 5 ms and 1000 s: 5, 10, 20 ms, …, 655.36 s at the 18th failure, then 1000 s. client-go's
/// `DefaultTypedItemBasedRateLimiter` begins at 1 ms. There is no jitter, as in client-go:
/// keys that fail together are tried together, unless [`Jitter`](super::Jitter) is around it.
///
/// A thousand seconds is long when a person waits for the object to recover, and 5 ms is
/// short for a server that is down: 500 ms to 15 min is what `kubectl minrep run` sets.
///
/// ```
/// use controller_core::queue::{ItemExponentialFailure, RateLimiter};
/// use tokio::time::Duration;
///
/// # fn main() -> Result<(), controller_core::queue::LimiterError> {
/// let (base, max) = (Duration::from_millis(500), Duration::from_secs(900));
/// let limiter = ItemExponentialFailure::new(base, max)?;
/// assert_eq!(limiter.when(&"shop/web"), Duration::from_millis(500));
/// assert_eq!(limiter.when(&"shop/web"), Duration::from_millis(1000));
/// assert_eq!(limiter.when(&"shop/cart"), Duration::from_millis(500));
/// limiter.forget(&"shop/web");
/// assert_eq!(limiter.when(&"shop/web"), Duration::from_millis(500));
/// # Ok(())
/// # }
/// ```
pub struct ItemExponentialFailure<T> {
    base: Duration,
    max: Duration,
    failures: Failures<T>,
}

// === impl ItemExponentialFailure ===

impl<T> ItemExponentialFailure<T> {
    /// The first wait when none is named.
    pub const DEFAULT_BASE: Duration = Duration::from_millis(5);
    /// The longest wait when none is named.
    pub const DEFAULT_MAX: Duration = Duration::from_secs(1000);

    /// Waits from `base`, doubled at each failure, to `max`.
    ///
    /// # Errors
    ///
    /// [`BaseTooShort`](LimiterError::BaseTooShort), below 1 ms, and
    /// [`MaxBelowBase`](LimiterError::MaxBelowBase).
    pub fn new(base: Duration, max: Duration) -> Result<Self, LimiterError> {
        if base < SHORTEST_PAUSE {
            return Err(LimiterError::BaseTooShort(base));
        }
        if max < base {
            return Err(LimiterError::MaxBelowBase { base, max });
        }
        Ok(Self {
            base,
            max,
            failures: Failures::new(),
        })
    }
}

impl<T> Default for ItemExponentialFailure<T> {
    fn default() -> Self {
        Self {
            base: Self::DEFAULT_BASE,
            max: Self::DEFAULT_MAX,
            failures: Failures::new(),
        }
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> RateLimiter<T> for ItemExponentialFailure<T> {
    fn when(&self, item: &T) -> Duration {
        let before = self.failures.count(item);
        // What no `Duration` can hold is above any `max`.
        let wait = self.base.as_secs_f64() * f64::from(before).exp2();
        Duration::try_from_secs_f64(wait).map_or(self.max, |wait| wait.min(self.max))
    }

    fn forget(&self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.of(item)
    }
}

impl<T> fmt::Debug for ItemExponentialFailure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemExponentialFailure")
            .field("base", &self.base)
            .field("max", &self.max)
            .field("failing", &self.failures.failing())
            .finish()
    }
}
