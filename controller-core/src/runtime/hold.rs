use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::{Layer, Service, ServiceExt};

use crate::worker::{Outcome, ReconcileError, ReconcileRequest};

/// Keeps a reconciler from its work for as long as it would decide from too little. A clone
/// is the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Hold(Arc<watch::Sender<bool>>);

/// Lets a call wait while there is a hold. One that had begun before is not stopped, and the
/// wait is no part of the time that a reconcile may take.
#[derive(Clone, Debug)]
pub(super) struct HoldLayer {
    hold: Hold,
    shutdown: CancellationToken,
}

/// The service of [`HoldLayer`].
#[derive(Clone, Debug)]
pub(super) struct Held<S> {
    inner: S,
    layer: HoldLayer,
}

// === impl Hold ===

impl Hold {
    /// Holds, or lets go.
    pub(super) fn set(&self, held: bool) {
        self.0.send_replace(held);
    }

    /// Makes calls subject to this hold. From `shutdown` on a call that would have to wait
    /// fails at once instead: the end does not wait for it, and its key counts as undone.
    pub(super) fn layer(&self, shutdown: CancellationToken) -> HoldLayer {
        let hold = self.clone();
        HoldLayer { hold, shutdown }
    }
}

// === impl HoldLayer ===

impl HoldLayer {
    async fn wait(&self) -> Result<(), ReconcileError> {
        let mut held = self.hold.0.subscribe();
        tokio::select! {
            biased;
            // The sender is ours, so it does not end.
            _ = held.wait_for(|held| !held) => Ok(()),
            () = self.shutdown.cancelled() => {
                Err(ReconcileError::transient("stopped while it was held back"))
            }
        }
    }
}

impl<S> Layer<S> for HoldLayer {
    type Service = Held<S>;

    fn layer(&self, inner: S) -> Held<S> {
        let layer = self.clone();
        Held { inner, layer }
    }
}

// === impl Held ===

impl<K, S> Service<ReconcileRequest<K>> for Held<S>
where
    K: Send + 'static,
    S: Service<ReconcileRequest<K>, Response = Outcome, Error = ReconcileError, Future: Send>
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
        let Self { inner, layer } = self.clone();
        async move {
            layer.wait().await?;
            inner.oneshot(request).await
        }
        .boxed()
    }
}
