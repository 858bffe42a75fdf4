//! `WorkQueue` → a handle that can do less.
//!
//! client-go has three kinds of queue, each made of the one before. Here there is one
//! implementation, [`WorkQueue`](super::WorkQueue), and three views of it, for a part of a
//! program that has no use for more:
//!
//! | client-go | the view | what it adds |
//! |---|---|---|
//! | `TypedInterface`, from `NewTyped` | [`FifoQueue`] | `add`, `get`, the three ends |
//! | `TypedDelayingInterface`, from `NewTypedDelayingQueue` | [`DelayingQueue`] | `add_after`, `replace_after`, `cancel` |
//! | `TypedRateLimitingInterface`, from `NewTypedRateLimitingQueue` | [`RateLimitingQueue`] | `add_rate_limited`, `forget`, `num_requeues` |
//!
//! As there, whoever asks for a simpler queue takes a richer one too: each view derefs to
//! the one before. What only a [`WorkQueue`](super::WorkQueue) has: the background band,
//! [`halted`](super::WorkQueue::halted), and a [`WorkerPool`](crate::worker::WorkerPool) that
//! serves it.
//!
//! A view says what its holder means to do, and is no fence: each can shut the queue down, and
//! a [`RateLimitingQueue`] can be made into the whole again.
mod delaying;
mod fifo;
mod rate_limiting;

pub use delaying::DelayingQueue;
pub use fifo::FifoQueue;
pub use rate_limiting::RateLimitingQueue;
