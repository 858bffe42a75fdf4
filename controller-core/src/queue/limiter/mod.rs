//! How long a failed key waits before its next try.
mod bucket;
mod failures;
mod item_exponential;
mod item_fast_slow;
mod jitter;
mod limiter_error;
mod max_of;
mod rate_limiter;
mod with_max_wait;

pub use bucket::Bucket;
pub use item_exponential::ItemExponentialFailure;
pub use item_fast_slow::ItemFastSlow;
pub use jitter::Jitter;
pub(crate) use jitter::{TENTH, spread};
pub use limiter_error::LimiterError;
pub use max_of::MaxOf;
pub use rate_limiter::RateLimiter;
pub use with_max_wait::WithMaxWait;
