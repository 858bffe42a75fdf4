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
//! | [`Outcome::NotYet`] | kept | comes back after that long |
//! | [`ReconcileError::Transient`], a panic, the deadline | counted | comes back rate-limited |
//! | [`ReconcileError::Terminal`] | forgotten | leaves |
//! | the queue is halted | – | leaves |
//!
//! Whatever it ends with, a key that was added meanwhile comes back at once.
//!
//! # What is logged
//!
//! Each call runs in the span `reconcile{queue key attempt queued_for reconcileID}`, whose target
//! is `controller_core::reconcile`; the id is another one for each call. `queued_for` is there if the queue takes
//! [timestamps](crate::queue::Builder::timestamps). A failure is one `warn`
//! line with the causes of its error; the same failure of the same key again is `debug`. When many
//! keys fail at once, for one cause as a rule, at most ten such lines come in ten seconds,
//! and one line sums up the rest, further and further apart while it lasts. So an outage
//! of the server with 200 objects waiting is two dozen lines, not thousands. What is counted is
//! in [`WorkerMetrics`].
//!
//! # Layers
//!
//! A call is a tower service that takes a [`ReconcileRequest`]. [`layers`] has those that every
//! pool puts around it, and the order in which they stand; [`WorkerPool::layer`] adds one's own,
//! as the example `layers` does.
//!
//! # Panics
//!
//! Code that is not ours may panic anywhere, and costs one try of one key: the reconciler, a
//! layer, its clone, the drop of a call that was given up, an error when it is displayed. A
//! limiter that panics costs not even that: the key comes back after 10 s. A key that panics when
//! it is displayed has a stand-in in the log. Each such line names its key.
//!
//! # The end
//!
//! Workers return when the queue hands out nothing any more, so whoever shuts down the
//! queue ends the pool:
//!
//! ```text
//! shut_down_with_drain(deadline)   intake closed, keys in line are served
//!       │            └─ deadline   tokens fire, calls under way are dropped at their next await
//!       ▼
//! run() returns                    every worker is joined, the counts are final
//! ```
//!
//! A dropped call has no chance to tidy up. What it started and must not leave half done
//! belongs in a task that someone else joins; [`ReconcileRequest::cancelled`] tells that task.
//!
//! # Costs
//!
//! One task a worker, which sleeps while no key is in line. Two clones of the service a call,
//! which for a [`Reconciler`] is a pointer each, and half a dozen small allocations. For each
//! failing key a hash of its last message, so that the log can tell news from repetition.
//!
//! How many workers? A call mostly waits for the server, so that the answer is how many
//! requests at once the server should see. Two are enough for most; a controller that makes
//! a slow request for each key wants more. More workers than keys do nothing.
//!
//! # If you know client-go
//!
//! It has no such type: it is the loop that every controller writes out, in sample-controller
//! `runWorker` and `processNextWorkItem`. controller-runtime has it:
//!
//! | controller-runtime | here |
//! |---|---|
//! | `reconcile.Reconciler` | [`Reconciler`] |
//! | `reconcile.Result{}` | [`Outcome::Done`] |
//! | `reconcile.Result{RequeueAfter: d}` | [`Outcome::RequeueAfter`] |
//! | `reconcile.Result{Requeue: true}` | [`ReconcileError::Transient`]: if it is to be tried again, say why |
//! | `reconcile.TerminalError(err)` | [`ReconcileError::Terminal`] |
//! | `MaxConcurrentReconciles` | the last argument of [`WorkerPool::new`] |
//! | `RecoverPanic` | always |
//! | `ReconciliationTimeout` | [`WorkerPool::reconcile_deadline`] |
//! | the `context.Context` of a call | [`ReconcileRequest::cancelled`], and the drop of the call |
//! | its metrics | [`WorkerMetrics`], with the same names |
//!
//! # Testing against it
//!
//! A reconciler needs no pool: call [`Reconciler::reconcile`] with a key, over a cache that
//! the test has filled. For the settling of a key, fill a queue, shut it down, and run the
//! pool: it ends by itself. The example at [`WorkerPool`] does that.
mod call_error;
mod chain;
mod failure_log;
mod fate;
mod key_text;
pub mod layers;
mod metrics;
mod pool;
mod reconciler;
mod request;
mod service;
mod settle;
mod summary;
mod worker_loop;

pub use call_error::CallError;
pub(crate) use layers::reconcile_span;
pub use metrics::{ControllerMetrics, WorkerMetrics};
pub use pool::{Guarded, WorkerPool};
pub use reconciler::{Outcome, ReconcileError, Reconciler};
pub use request::ReconcileRequest;
pub use service::ReconcileService;
pub use summary::PoolSummary;
