use std::fmt;
use std::time::Duration;

use super::RateLimiter;

/// The longest wait of several limiters, each of which counts every failure.
///
/// client-go's `DefaultTypedControllerRateLimiter` is this one: each key by itself, and a
/// bucket for all.
///
/// ```
/// use controller_core::queue::{Bucket, ItemExponentialFailure, MaxOf, RateLimiter};
/// use tokio::time::Duration;
///
/// let limiter = MaxOf::new(ItemExponentialFailure::default()).and(Bucket::default());
/// assert_eq!(limiter.when(&"shop/web"), Duration::from_millis(5));
/// assert_eq!(limiter.num_requeues(&"shop/web"), 1);
/// ```
pub struct MaxOf<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

// === impl MaxOf ===

impl<T> MaxOf<T> {
    /// The waits of `first`, until others are added: without any there would be no pause.
    pub fn new(first: impl RateLimiter<T>) -> Self {
        Self {
            limiters: vec![Box::new(first)],
        }
    }

    /// Adds a limiter.
    #[must_use]
    pub fn and(mut self, limiter: impl RateLimiter<T>) -> Self {
        self.limiters.push(Box::new(limiter));
        self
    }
}

impl<T: 'static> RateLimiter<T> for MaxOf<T> {
    fn when(&self, item: &T) -> Duration {
        let waits = self.limiters.iter().map(|limiter| limiter.when(item));
        waits.max().unwrap_or(Duration::ZERO)
    }

    fn forget(&self, item: &T) {
        for limiter in &self.limiters {
            limiter.forget(item);
        }
    }

    fn num_requeues(&self, item: &T) -> u32 {
        let counts = self
            .limiters
            .iter()
            .map(|limiter| limiter.num_requeues(item));
        counts.max().unwrap_or(0)
    }
}

impl<T> fmt::Debug for MaxOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxOf")
            .field("limiters", &self.limiters.len())
            .finish()
    }
}
