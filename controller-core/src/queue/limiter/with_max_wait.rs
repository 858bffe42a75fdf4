use std::time::Duration;

use super::RateLimiter;

/// Another limiter, whose waits are cut to `max`. It counts as it did.
///
/// Around a [`Bucket`](super::Bucket) it bounds how far ahead tokens are reserved in
/// effect, and lets through more than the bucket would.
#[derive(Debug)]
pub struct WithMaxWait<L> {
    inner: L,
    max: Duration,
}

// === impl WithMaxWait ===

impl<L> WithMaxWait<L> {
    /// Cuts the waits of `inner` to `max`.
    pub const fn new(inner: L, max: Duration) -> Self {
        Self { inner, max }
    }
}

impl<T, L: RateLimiter<T>> RateLimiter<T> for WithMaxWait<L> {
    fn when(&self, item: &T) -> Duration {
        self.inner.when(item).min(self.max)
    }

    fn forget(&self, item: &T) {
        self.inner.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.inner.num_requeues(item)
    }
}
