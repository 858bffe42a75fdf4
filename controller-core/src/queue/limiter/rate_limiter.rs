use std::time::Duration;

/// Says how long a key waits before its next try.
///
/// Called by many workers at once, so an implementation brings its own lock. It is asked
/// outside the lock of the queue, and what it answers is taken as it is.
///
/// ```
/// use controller_core::queue::{RateLimiter, WorkQueue};
/// use tokio::time::Duration;
///
/// /// Every retry after a second, whatever happened before.
/// struct EverySecond;
///
/// impl<T> RateLimiter<T> for EverySecond {
///     fn when(&self, _: &T) -> Duration {
///         Duration::from_secs(1)
///     }
///     fn forget(&self, _: &T) {}
///     fn num_requeues(&self, _: &T) -> u32 {
///         0
///     }
/// }
///
/// let queue: WorkQueue<u32> = WorkQueue::builder("steady").rate_limiter(EverySecond).build();
/// ```
///
/// The dangerous mistake is to forget [`forget`](Self::forget): a key that succeeded
/// would wait at its next failure as if it had never recovered, and its count would be
/// kept for ever.
pub trait RateLimiter<T>: Send + Sync + 'static {
    /// Counts a failure of the key, and says how long it waits for its next try.
    fn when(&self, item: &T) -> Duration;

    /// The key is fine: its failures no longer count.
    fn forget(&self, item: &T);

    /// How many failures of the key count.
    fn num_requeues(&self, item: &T) -> u32;
}
