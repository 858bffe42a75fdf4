use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use tower::{Layer, Service, ServiceExt};

use crate::worker::fate::GivenUp;
use crate::worker::{CallError, Outcome, ReconcileError, ReconcileRequest};

/// Makes an error of a panic: [`CallError::Panicked`], which is transient. The panic hook has
/// printed the place of the panic by then. The [token](ReconcileRequest::cancelled) of the
/// request fires.
///
/// The call runs on a clone of the service, which the panic takes with it. What clones share
/// is left as the panic found it; a `parking_lot` lock is free again, and is not poisoned.
///
/// With `panic = "abort"` in the profile there is nothing to catch: the process ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct CatchPanicLayer(());

/// The service of [`CatchPanicLayer`].
#[derive(Clone, Debug)]
pub struct CatchPanic<S>(S);

// === impl CatchPanicLayer ===

impl CatchPanicLayer {
    /// There is nothing to set.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S> Layer<S> for CatchPanicLayer {
    type Service = CatchPanic<S>;

    fn layer(&self, inner: S) -> CatchPanic<S> {
        CatchPanic(inner)
    }
}

// === impl CatchPanic ===

impl<K, S> Service<ReconcileRequest<K>> for CatchPanic<S>
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
        let fate = request.fate().clone();
        fate.begin();
        let (request, unless_answered) = request.cancelled_unless_answered();
        let call = self.0.clone().oneshot(request);
        let call = AssertUnwindSafe(call.map(|answer| answer.map_err(Into::into)));
        async move {
            match call.catch_unwind().await {
                Ok(answer) => {
                    unless_answered.disarm();
                    answer
                }
                Err(payload) => {
                    fate.note(GivenUp::Panicked);
                    Err(CallError::panicked(payload).into())
                }
            }
        }
        .boxed()
    }
}
