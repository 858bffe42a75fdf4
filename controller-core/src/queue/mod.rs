//! keys → [`Ticket`].
//!
//! Contract: no key twice in line, no key in two workers, none lost, none starved.
//!
//! A key is in at most one of three places: *delayed*, *in line*, or *in work*. A key
//! that is added while it is in work is only marked, and goes back in line once, when
//! its [`Ticket`] is dropped. That is client-go's pair of dirty and processing sets.
//!
//! ```text
//! add_after ──► delayed ──(deadline)──► in line ──(get)──► in work ──(drop)──► gone
//! add ─────────────────────────────────────▲                  │
//!                                          └───(added meanwhile)
//! ```
//!
//! The code has the same three layers: `state` is the whole rule book, without lock,
//! clock or waker; `shared` puts it under one lock and wakes whom a change concerns;
//! [`WorkQueue`] adds the rate limiter. No background task runs: a waiting
//! [`get`](WorkQueue::get) sleeps until the earliest deadline, and every call first
//! moves what is due in line.
mod drain;
mod entries;
mod get;
mod limiter;
mod line;
mod shared;
mod state;
mod sync;
mod ticket;
mod waiters;
mod work_queue;

#[cfg(test)]
mod tests;

pub use drain::Drained;
pub use get::Get;
pub use limiter::{Bucket, ItemExponentialFailure, ItemFastSlow, MaxOf, RateLimiter, WithMaxWait};
pub use state::Depth;
pub use ticket::Ticket;
pub use work_queue::{Builder, WorkQueue};
