use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::Mutex;

use super::RateLimiter;

/// Each key by itself: `fast` for the first `tries` failures, `slow` from then on.
///
/// For work that mostly succeeds at the second try, such as one that waits for another
/// controller.
///
/// ```
/// use controller_core::queue::{ItemFastSlow, RateLimiter};
/// use tokio::time::Duration;
///
/// let (fast, slow) = (Duration::from_millis(5), Duration::from_secs(10));
/// let limiter = ItemFastSlow::new(fast, slow, 2);
/// let waits = [(); 4].map(|()| limiter.when(&"shop/web"));
/// assert_eq!(waits, [fast, fast, slow, slow]);
/// ```
pub struct ItemFastSlow<T> {
    fast: Duration,
    slow: Duration,
    tries: u32,
    failures: Mutex<HashMap<T, u32>>,
}

// === impl ItemFastSlow ===

impl<T> ItemFastSlow<T> {
    /// Waits `fast` after each of the first `tries` failures, then `slow`.
    pub fn new(fast: Duration, slow: Duration, tries: u32) -> Self {
        Self {
            fast,
            slow,
            tries,
            failures: Mutex::new(HashMap::new()),
        }
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> RateLimiter<T> for ItemFastSlow<T> {
    fn when(&self, item: &T) -> Duration {
        let mut failures = self.failures.lock();
        let count = failures.entry_ref(item).or_insert(0);
        *count = count.saturating_add(1);
        if *count <= self.tries {
            self.fast
        } else {
            self.slow
        }
    }

    fn forget(&self, item: &T) {
        self.failures.lock().remove(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.lock().get(item).copied().unwrap_or(0)
    }
}

impl<T> fmt::Debug for ItemFastSlow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemFastSlow")
            .field("fast", &self.fast)
            .field("slow", &self.slow)
            .field("tries", &self.tries)
            .field("failing", &self.failures.lock().len())
            .finish()
    }
}
