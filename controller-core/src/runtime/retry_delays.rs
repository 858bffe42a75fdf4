use std::hash::Hash;
use std::time::Duration;

use crate::queue::{ItemExponentialFailure, Jitter, LimiterError, RateLimiter, TENTH};

/// How long an object that failed waits for its next try: a first delay, which each further
/// failure doubles, up to a longest one. Each object by itself, until it succeeds.
///
/// The default is 500 ms to 15 min. client-go's 5 ms ask a server that is down eight times
/// in its first second, and its 1000 s astonish whoever has just mended what was wrong.
///
/// ```
/// use controller_core::queue::LimiterError;
/// use controller_core::runtime::RetryDelays;
/// use tokio::time::Duration;
///
/// # fn main() -> Result<(), LimiterError> {
/// let patient = RetryDelays::new(Duration::from_secs(2), Duration::from_secs(3600))?;
/// assert_eq!(patient.max(), Duration::from_secs(3600));
/// assert!(RetryDelays::new(Duration::ZERO, patient.max()).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryDelays {
    base: Duration,
    max: Duration,
}

// === impl RetryDelays ===

impl RetryDelays {
    /// From `base`, doubled at each failure, to `max`.
    ///
    /// # Errors
    ///
    /// [`BaseTooShort`](LimiterError::BaseTooShort) and
    /// [`MaxBelowBase`](LimiterError::MaxBelowBase).
    pub fn new(base: Duration, max: Duration) -> Result<Self, LimiterError> {
        ItemExponentialFailure::<()>::new(base, max)?;
        Ok(Self { base, max })
    }

    /// The delay after the first failure.
    pub const fn base(&self) -> Duration {
        self.base
    }

    /// The longest delay. It bounds how long it takes until a cure is noticed.
    pub const fn max(&self) -> Duration {
        self.max
    }

    /// A queue's limiter with these delays, each of them longer by up to a tenth, but none
    /// above [`max`](Self::max): from the longest it takes up to a tenth off.
    pub fn limiter<T>(&self) -> impl RateLimiter<T> + use<T>
    where
        T: Clone + Eq + Hash + Send + 'static,
    {
        ItemExponentialFailure::new(self.base, self.max)
            .and_then(|doubling| Jitter::new(doubling, TENTH))
            .and_then(|spread| spread.at_most(self.max))
            .expect("invariant: `new` has asked the limiter")
    }
}

impl Default for RetryDelays {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(500),
            max: Duration::from_secs(15 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limiter_doubles_and_adds_a_tenth_up_to_the_longest() {
        let delays = RetryDelays::default();
        let limiter = delays.limiter();
        let mut expected = delays.base();
        for failures in 1..=11 {
            let wait = limiter.when(&"shop/web");
            let longest = expected.mul_f64(1.1);
            assert!(wait >= expected && wait <= longest, "{failures}: {wait:?}");
            expected *= 2;
        }
        for _ in 0..10 {
            let wait = limiter.when(&"shop/web");
            assert!(
                wait >= delays.max().mul_f64(0.9) && wait <= delays.max(),
                "{wait:?}"
            );
        }
        limiter.forget(&"shop/web");
        assert!(limiter.when(&"shop/web") < Duration::from_secs(1));
    }

    #[test]
    fn what_a_limiter_refuses_is_refused() {
        let second = Duration::from_secs(1);
        assert_eq!(
            RetryDelays::new(Duration::ZERO, second),
            Err(LimiterError::BaseTooShort(Duration::ZERO))
        );
        let (base, max) = (2 * second, second);
        assert_eq!(
            RetryDelays::new(base, max),
            Err(LimiterError::MaxBelowBase { base, max })
        );
        let nano = Duration::from_nanos(1);
        assert_eq!(
            RetryDelays::new(nano, nano),
            Err(LimiterError::BaseTooShort(nano))
        );
    }

    /// An outage has brought all objects to the longest wait by the time that it ends.
    #[test]
    fn objects_at_the_longest_wait_come_back_apart_from_each_other() {
        let second = Duration::from_secs(1);
        let delays = RetryDelays::new(second, second).unwrap();
        let limiter = delays.limiter();
        let mut waits: Vec<Duration> = (0..1000).map(|object| limiter.when(&object)).collect();
        waits.sort_unstable();
        waits.dedup();
        assert!(waits.len() > 990, "{}", waits.len());
        assert!(waits[0] >= second.mul_f64(0.9) && waits[0] < second.mul_f64(0.91));
        let last = waits[waits.len() - 1];
        assert!(last <= second && last > second.mul_f64(0.99), "{last:?}");
    }
}
