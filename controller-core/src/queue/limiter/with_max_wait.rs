use std::time::Duration;

use super::limiter_error::SHORTEST_PAUSE;
use super::{LimiterError, RateLimiter};

/// Another limiter, whose waits are cut to `max`. It counts as it did.
///
/// Around a [`Bucket`](super::Bucket) it bounds how far ahead tokens are reserved in
/// effect, and lets through more than the bucket would.
///
/// ```
/// use controller_core::queue::{ItemExponentialFailure, RateLimiter, WithMaxWait};
/// use tokio::time::Duration;
///
/// let limiter = WithMaxWait::of_a_minute(ItemExponentialFailure::default());
/// let waits: Vec<_> = (0..20).map(|_| limiter.when(&"shop/web")).collect();
/// assert_eq!(waits[13], Duration::from_millis(40_960));
/// assert_eq!(waits[14..], [Duration::from_secs(60); 6]);
/// ```
#[derive(Debug)]
pub struct WithMaxWait<L> {
    inner: L,
    max: Duration,
}

// === impl WithMaxWait ===

impl<L> WithMaxWait<L> {
    /// As long as a person who mended something waits without wondering.
    const A_MINUTE: Duration = Duration::from_secs(60);

    /// Cuts the waits of `inner` to `max`.
    ///
    /// # Errors
    ///
    /// [`MaxWaitTooShort`](LimiterError::MaxWaitTooShort) if `max` is below 1 ms.
    pub fn new(inner: L, max: Duration) -> Result<Self, LimiterError> {
        if max < SHORTEST_PAUSE {
            return Err(LimiterError::MaxWaitTooShort(max));
        }
        Ok(Self { inner, max })
    }

    /// Cuts the waits of `inner` to 60 s.
    pub const fn of_a_minute(inner: L) -> Self {
        Self {
            inner,
            max: Self::A_MINUTE,
        }
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
