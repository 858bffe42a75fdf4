use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use tower::{Layer, Service, ServiceExt};

use crate::worker::{ControllerMetrics, Outcome, ReconcileError, ReconcileRequest};

/// Counts calls and takes their time: see [`WorkerMetrics`](crate::worker::WorkerMetrics).
///
/// A call that is dropped before its end counts as nothing, for it has no result. One that
/// panics through this layer counts as one.
#[derive(Clone, Debug)]
pub struct MetricsLayer {
    metrics: ControllerMetrics,
}

/// The service of [`MetricsLayer`].
#[derive(Clone, Debug)]
pub struct Metered<S> {
    inner: S,
    metrics: ControllerMetrics,
}

// === impl MetricsLayer ===

impl MetricsLayer {
    /// Counts in these.
    pub fn new(metrics: ControllerMetrics) -> Self {
        Self { metrics }
    }
}

impl<S> Layer<S> for MetricsLayer {
    type Service = Metered<S>;

    fn layer(&self, inner: S) -> Metered<S> {
        let metrics = self.metrics.clone();
        Metered { inner, metrics }
    }
}

// === impl Metered ===

impl<K, S> Service<ReconcileRequest<K>> for Metered<S>
where
    K: Send + 'static,
    S: Service<ReconcileRequest<K>, Response = Outcome, Error: Into<ReconcileError>, Future: Send>
        + Clone
        + Send
        + 'static,
{
    type Response = Outcome;
    type Error = ReconcileError;
    type Future = BoxFuture<'static, Result<Outcome, ReconcileError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ReconcileError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ReconcileRequest<K>) -> Self::Future {
        let call = self.metrics.begin();
        let inner = self.inner.clone();
        let fate = request.fate().clone();
        async move {
            let answer = inner.oneshot(request).await.map_err(Into::into);
            call.end(&answer, &fate);
            answer
        }
        .boxed()
    }
}
