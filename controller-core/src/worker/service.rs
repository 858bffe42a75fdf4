use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use tower::Service;

use super::reconciler::{Outcome, ReconcileError, Reconciler};
use super::request::ReconcileRequest;

/// A [`Reconciler`] as a [`tower::Service`], so that layers can be put around it: a
/// limit of calls at once, a metric, a trace.
///
/// Always ready. A clone calls the same reconciler. [`WorkerPool::new`] makes one by
/// itself, and [`WorkerPool::layer`] wraps it:
///
/// ```
/// use std::sync::Arc;
/// use controller_core::queue::WorkQueue;
/// use controller_core::worker::{
///     Outcome, ReconcileError, ReconcileRequest, Reconciler, WorkerPool,
/// };
/// use tower::util::MapRequestLayer;
/// # struct Greeter;
/// # impl Reconciler for Greeter {
/// #     type Key = String;
/// #     async fn reconcile(&self, _: &String) -> Result<Outcome, ReconcileError> {
/// #         Ok(Outcome::Done)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = WorkQueue::new("greeter");
/// queue.add("shop/web".to_owned());
/// queue.shut_down();
/// let pool = WorkerPool::new(queue, Arc::new(Greeter), 2)
///     .layer(MapRequestLayer::new(|request: ReconcileRequest<String>| {
///         tracing::trace!(attempt = request.attempt(), "about to reconcile {request}");
///         request
///     }));
/// assert_eq!(pool.run().await.reconciled, 1);
/// # }
/// ```
///
/// [`WorkerPool::new`]: super::WorkerPool::new
/// [`WorkerPool::layer`]: super::WorkerPool::layer
pub struct ReconcileService<R>(Arc<R>);

// === impl ReconcileService ===

impl<R: Reconciler> ReconcileService<R> {
    /// Calls this reconciler.
    pub fn new(reconciler: Arc<R>) -> Self {
        Self(reconciler)
    }
}

impl<R> Clone for ReconcileService<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R> fmt::Debug for ReconcileService<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconcileService").finish_non_exhaustive()
    }
}

impl<R: Reconciler> Service<ReconcileRequest<R::Key>> for ReconcileService<R> {
    type Response = Outcome;
    type Error = ReconcileError;
    type Future = BoxFuture<'static, Result<Outcome, ReconcileError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ReconcileError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ReconcileRequest<R::Key>) -> Self::Future {
        let reconciler = Arc::clone(&self.0);
        async move { reconciler.reconcile_request(&request).await }.boxed()
    }
}
