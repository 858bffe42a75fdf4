use std::time::Duration;

/// Why there is no limiter with these numbers.
///
/// client-go takes any. Each of these would either try again without a pause for as long
/// as something fails, or never again.
///
/// ```
/// use controller_core::queue::{ItemExponentialFailure, LimiterError};
/// use tokio::time::Duration;
///
/// let (base, max) = (Duration::from_secs(5), Duration::from_secs(1));
/// let refused = ItemExponentialFailure::<String>::new(base, max).unwrap_err();
/// assert_eq!(refused, LimiterError::MaxBelowBase { base, max });
/// assert_eq!(refused.to_string(), "the longest delay, 1s, is below the first one, 5s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LimiterError {
    /// The first delay is below 1 ms. Twice nothing is nothing, and twice next to nothing is no
    /// more for long.
    #[error("a first delay of {0:?} is no pause: give at least 1ms")]
    BaseTooShort(Duration),
    /// The delays would shrink, or `base` would never be waited for.
    #[error("the longest delay, {max:?}, is below the first one, {base:?}")]
    MaxBelowBase {
        /// The first delay.
        base: Duration,
        /// The longest one.
        max: Duration,
    },
    /// The slow delay is below 1 ms: there would be no pause however often it fails.
    #[error("a slow delay of {0:?} is no pause: give at least 1ms")]
    SlowTooShort(Duration),
    /// What fails again and again would be tried more often than at first.
    #[error("the slow delay, {slow:?}, is below the fast one, {fast:?}: are they swapped?")]
    SlowBelowFast {
        /// The delay of the first tries.
        fast: Duration,
        /// The delay of all later ones.
        slow: Duration,
    },
    /// Not a number, or not above zero, or without end.
    #[error("{0} tokens a second is no rate: give a number above 0")]
    NotARate(f64),
    /// One token would take more than a year, which is the longest delay of a queue.
    #[error("{0} tokens a second is less than one a year: give a larger number")]
    RateTooLow(f64),
    /// The bucket could never hold a token.
    #[error("a bucket for 0 tokens lets nothing through: give a burst of at least 1")]
    ZeroBurst,
    /// Every wait would be cut to below 1 ms.
    #[error("a longest wait of {0:?} is no pause: give at least 1ms")]
    MaxWaitTooShort(Duration),
    /// The share of a wait that chance may add to it.
    #[error("a jitter of {0} is no share of a wait: give a number from 0 to 1, such as 0.1")]
    NotAShare(f64),
}

/// What is shorter keeps a processor busy with what fails.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
