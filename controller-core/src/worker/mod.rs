//! [`Ticket`](crate::queue::Ticket) → a reconcile call.
//!
//! Contract: every key that is taken is reconciled and settled: forgotten, delayed, or
//! re-added rate-limited. A panic costs one try, never a worker. At shutdown the workers
//! work off the queue and return; none outlives [`WorkerPool::run`].
//!
//! | a call ends with | its failures | its key |
//! |---|---|---|
//! | [`Outcome::Done`] | forgotten | leaves |
//! | [`Outcome::RequeueAfter`] | forgotten | comes back after that long |
//! | [`ReconcileError::Transient`], a panic, the deadline | counted | comes back rate-limited |
//! | [`ReconcileError::Terminal`] | forgotten | leaves |
//! | the queue is halted | – | leaves |
//!
//! Whatever it ends with, a key that was added meanwhile comes back at once.
mod failure_log;
mod failures;
mod pool;
mod reconciler;
mod service;
mod summary;
mod worker_loop;

pub use pool::WorkerPool;
pub use reconciler::{Outcome, ReconcileError, Reconciler};
pub use service::ReconcileService;
pub use summary::PoolSummary;
