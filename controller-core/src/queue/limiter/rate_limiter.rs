use std::time::Duration;

/// Says how long a key waits before its next try.
///
/// Called by many workers at once, so an implementation brings its own lock.
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
