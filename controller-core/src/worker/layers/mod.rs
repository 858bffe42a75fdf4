//! What a [`WorkerPool`](super::WorkerPool) puts around every call, as tower layers.
//!
//! From the outside to the inside:
//!
//! ```text
//! SpanLayer          what is logged of the call has its key, its attempt and its id
//!   (the pool)       the last net against panics; settles the key and tells of failures
//!   MetricsLayer     counts the call and takes its time
//!     yours          the last one that was added is the outermost
//!       TimeoutLayer       gives the reconciler up at the deadline
//!         CatchPanicLayer  makes an error of its panic
//!           ReconcileService
//! ```
//!
//! So a layer of one's own runs in the span and is measured, sees a panic and a deadline of
//! the reconciler as errors (see [`CallError`](super::CallError)), and may hold a call back for
//! as long as it likes without using up its deadline. It holds a worker all the while. If it
//! panics itself, the pool makes an error of that too. A layer that may hang wants a
//! [`TimeoutLayer`] of its own around it: add one after it.
//!
//! Each can be used alone, around anything that takes a
//! [`ReconcileRequest`](super::ReconcileRequest) and answers with an
//! [`Outcome`](super::Outcome). Timeout, panics and metrics are always ready: they wait for the
//! readiness of what they wrap as a part of the call, on a clone, so that a wait for a place
//! counts as well.
mod catch_panic;
mod metrics;
mod span;
mod timeout;

pub use catch_panic::{CatchPanic, CatchPanicLayer};
pub use metrics::{Metered, MetricsLayer};
pub(crate) use span::reconcile_span;
pub use span::{SpanLayer, Spanned};
pub use timeout::{Timeout, TimeoutLayer};
