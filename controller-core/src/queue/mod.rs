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
//! # What an add does
//!
//! | the key is | [`add`](WorkQueue::add) | [`add_background`](WorkQueue::add_background) | [`add_after`](WorkQueue::add_after) |
//! |---|---|---|---|
//! | unknown | live line | background line | delayed |
//! | delayed | in line now, live | in line now, in the band it waits for | the earlier deadline |
//! | in line | moves from background to live | – | – |
//! | in work | in line when done, live | in line when done | delayed when done |
//! | in work and marked, or its delay has passed | the mark becomes live | – | – |
//!
//! A dash is no loss: the key is served after the call in any case, and sooner than asked
//! for. That is all a level-based controller needs, since a reconcile looks at the object
//! and not at the reason. [`replace_after`](WorkQueue::replace_after) differs from
//! `add_after` in one cell: of two deadlines the newer one counts. A delay of zero is an add
//! in the band that the key has.
//!
//! # Order
//!
//! First in, first out within a band, and live before background, but for every eighth
//! key: that is the background key that waited longest. So a first list of 10,000 objects
//! does not hold up the one that changed just now, and a stream of changes does not keep
//! the first list from ending. A retry goes to the end of the band it came from. Delayed
//! keys go in line in the order of their deadlines.
//!
//! # The end
//!
//! | call | keys in line | keys in work | returns |
//! |---|---|---|---|
//! | [`shut_down`](WorkQueue::shut_down) | handed out | finish | at once |
//! | [`shut_down_with_drain`](WorkQueue::shut_down_with_drain) | handed out until the deadline | finish, or are told to stop | when none is left, or at the deadline |
//! | [`shut_down_now`](WorkQueue::shut_down_now) | dropped | are told to stop | at once |
//!
//! All three close the intake, drop the delayed keys and count them. An add after that is
//! ignored, as in client-go, and counted; what was added to a key in work before it is still
//! served, and so is a key whose delay passed while it was in work. [`Drained`] has the counts,
//! and [`WorkQueue::abandoned_keys`] the names of what a deadline cut off.
//!
//! # Where it differs from client-go
//!
//! - A drain waits for the keys in line, not only for those in work, and wakes everyone
//!   who waits when it is over.
//! - `Done` is the drop of the [`Ticket`]: it can be neither forgotten nor called twice.
//! - An add is the end of a delay, so no key comes a second time at its old deadline.
//! - Delays can be postponed and cancelled.
//! - The default limiter has no bucket shared by all keys.
//!
//! # Costs
//!
//! For each known key one entry: the key, a copy of it to be handed out, and 32 bytes for its
//! hash, its place and a time; a slot of 9 bytes in a table that is at least half full; and
//! while it is delayed a node of an ordered map. An
//! [`ObjectKey`](crate::client::ObjectKey) takes 75 all in all. The add of a key that is in line
//! or in work allocates nothing, nor does a key that comes and goes by itself. The default
//! limiter keeps a count for each failing key, until it is forgotten; while no key fails it
//! takes no lock.
//!
//! A key that has left is remembered while others are in line or in work, for as a rule it comes
//! again: then it is neither cloned nor put into the table once more. About 16,384 are remembered
//! at most, or 32 times as many as others are there, for 4 bytes more each; those that left first
//! go first, dropped by whoever calls the queue then. A queue that has caught up keeps no key but
//! those that are delayed, and no memory but eight times what they take, or room for 16,384 keys.
//! Of equal keys any may be the one that a worker is given.
//!
//! One lock, which workers and handlers share, held for a look-up and a few links. Keys are
//! hashed before it is taken and dropped after it is released. [`Ticket::next`] ends one piece
//! of work and takes the next key in one passage, and [`WorkQueue::add_ref`] counts no
//! references of a key that is known. A thread that finds the lock taken leaves it to the other
//! for some 70 µs, and does so up to eight times: so threads that all want it do several times as
//! much, and a call that meets another, which is rare where keys are worked on and not only
//! passed around, takes that long. The clock is read only while something is delayed, or if
//! [timestamps](Builder::timestamps) are asked for: these are of the moment of the call. No task,
//! and no timer while nothing is delayed.
//!
//! # If you know client-go
//!
//! | client-go | here |
//! |---|---|
//! | `workqueue.NewTypedRateLimitingQueueWithConfig` | [`WorkQueue::builder`], or [`RateLimitingQueue`] |
//! | `NewTypedDelayingQueue`, `NewTyped` | [`DelayingQueue`], [`FifoQueue`]: views of the same queue |
//! | `Add`, `AddAfter`, `AddRateLimited`, `Forget`, `NumRequeues`, `Len` | the same, in snake case |
//! | `Get` and its `shutdown` | [`WorkQueue::get`], `None` is shutdown |
//! | `Done` | the drop of a [`Ticket`] |
//! | `ShutDown` | [`WorkQueue::shut_down`] |
//! | `ShutDownWithDrain` | [`WorkQueue::shut_down_with_drain`], with a deadline |
//! | `TypedQueueConfig.MetricsProvider` | [`WorkQueue::register`], [`QueueMetrics`] |
//! | `DefaultTypedControllerRateLimiter` | [`MaxOf`] the defaults of [`ItemExponentialFailure`] and [`Bucket`] |
//! | `DefaultTypedItemBasedRateLimiter` | [`ItemExponentialFailure`]; the default, with a base of 5 ms instead of 1 |
//! | `NewTypedItemFastSlowRateLimiter`, `NewTypedWithMaxWaitRateLimiter` | [`ItemFastSlow`], [`WithMaxWait`] |
//! | `wait.Jitter` of apimachinery, by hand | [`Jitter`] around any limiter |
//! | controller-runtime's priorities 0 and −100 | [`Band`](crate::handler::Band) |
//!
//! # Testing against it
//!
//! Deadlines are tokio's: with a paused clock a delay of an hour passes as soon as nothing
//! else is to be done. [`WorkQueue::depth`] tells where the keys are.
//!
//! # How it is made
//!
//! The code has three layers: `state` is the whole rule book, without lock
//! or waker; `shared` puts it under one lock and wakes whom a change concerns;
//! [`WorkQueue`] adds the rate limiter. No background task runs: a waiting
//! [`get`](WorkQueue::get) sleeps until the earliest deadline, and every call first
//! moves what is due in line.
mod clock;
mod counts;
mod depth;
mod drain;
mod durations;
mod entries;
mod get;
mod incoming;
mod limiter;
mod line;
mod metrics;
#[cfg(queue_loom)]
#[doc(hidden)]
pub mod model_clock;
mod phase;
mod removed;
mod shared;
mod snapshot;
mod state;
mod sync;
mod ticket;
mod views;
mod waiters;
mod work;
mod work_queue;

#[cfg(test)]
mod tests;

pub use depth::Depth;
pub use drain::Drained;
pub use durations::Durations;
pub use get::Get;
pub use limiter::{
    Bucket, ItemExponentialFailure, ItemFastSlow, Jitter, LimiterError, MaxOf, RateLimiter,
    WithMaxWait,
};
pub(crate) use limiter::{TENTH, spread};
pub use metrics::QueueMetrics;
pub use snapshot::{InWork, Snapshot};
pub use ticket::Ticket;
pub use views::{DelayingQueue, FifoQueue, RateLimitingQueue};
pub use work_queue::{Builder, WorkQueue};
