use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::Mutex;

use super::RateLimiter;

/// Each key by itself: `base`, twice that, four times, …, at most `max`.
///
/// The default of a [`WorkQueue`](crate::queue::WorkQueue), with controller-runtime's
/// 5 ms and 1000 s: 5, 10, 20 ms, …, 655.36 s at the 18th failure, then 1000 s. There is
/// no jitter, as in client-go: keys that fail together are tried together.
///
/// A thousand seconds is long when a person waits for the object to recover, and 5 ms is
/// short for a server that is down: 750 ms to 15 min is what many operators set.
///
/// ```
/// use controller_core::queue::{ItemExponentialFailure, RateLimiter};
/// use tokio::time::Duration;
///
/// let limiter = ItemExponentialFailure::new(Duration::from_millis(750), Duration::from_secs(900));
/// assert_eq!(limiter.when(&"shop/web"), Duration::from_millis(750));
/// assert_eq!(limiter.when(&"shop/web"), Duration::from_millis(1500));
/// assert_eq!(limiter.when(&"shop/cart"), Duration::from_millis(750));
/// limiter.forget(&"shop/web");
/// assert_eq!(limiter.when(&"shop/web"), Duration::from_millis(750));
/// ```
pub struct ItemExponentialFailure<T> {
    base: Duration,
    max: Duration,
    failures: Mutex<HashMap<T, u32>>,
}

// === impl ItemExponentialFailure ===

impl<T> ItemExponentialFailure<T> {
    /// The first wait when none is named.
    pub const DEFAULT_BASE: Duration = Duration::from_millis(5);
    /// The longest wait when none is named.
    pub const DEFAULT_MAX: Duration = Duration::from_secs(1000);

    /// Waits from `base`, doubled at each failure, to `max`.
    pub fn new(base: Duration, max: Duration) -> Self {
        Self {
            base,
            max,
            failures: Mutex::new(HashMap::new()),
        }
    }
}

impl<T> Default for ItemExponentialFailure<T> {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BASE, Self::DEFAULT_MAX)
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> RateLimiter<T> for ItemExponentialFailure<T> {
    fn when(&self, item: &T) -> Duration {
        let before = {
            let mut failures = self.failures.lock();
            let count = failures.entry_ref(item).or_insert(0);
            let before = *count;
            *count = count.saturating_add(1);
            before
        };
        // What no `Duration` can hold is above any `max`.
        let wait = self.base.as_secs_f64() * f64::from(before).exp2();
        Duration::try_from_secs_f64(wait).map_or(self.max, |wait| wait.min(self.max))
    }

    fn forget(&self, item: &T) {
        self.failures.lock().remove(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.lock().get(item).copied().unwrap_or(0)
    }
}

impl<T> fmt::Debug for ItemExponentialFailure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemExponentialFailure")
            .field("base", &self.base)
            .field("max", &self.max)
            .field("failing", &self.failures.lock().len())
            .finish()
    }
}
