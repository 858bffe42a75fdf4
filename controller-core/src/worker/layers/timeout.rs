use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::timeout;
use tower::{Layer, Service, ServiceExt};

use crate::worker::fate::GivenUp;
use crate::worker::{CallError, Outcome, ReconcileError, ReconcileRequest};

/// Gives a call up after some time, with [`CallError::DeadlineExceeded`].
///
/// First the [token](ReconcileRequest::cancelled) of the request fires, then the call is
/// dropped at its last await. The error is transient. What must not be cut there, such as a
/// write that was sent, has to live in a task of its own.
///
/// ```
/// use std::sync::Arc;
/// # use controller_core::worker::{Outcome, ReconcileError, Reconciler};
/// use controller_core::worker::layers::TimeoutLayer;
/// use controller_core::worker::{CallError, ReconcileRequest, ReconcileService};
/// use tokio::time::Duration;
/// use tower::{Layer, ServiceExt};
/// # struct Endless;
/// # impl Reconciler for Endless {
/// #     type Key = String;
/// #     async fn reconcile(&self, _: &String) -> Result<Outcome, ReconcileError> {
/// #         std::future::pending().await
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let layer = TimeoutLayer::new(Duration::from_millis(10));
/// let service = layer.layer(ReconcileService::new(Arc::new(Endless)));
/// let request = ReconcileRequest::new("shop/web".to_owned());
/// let error = service.oneshot(request).await.expect_err("it takes too long");
/// assert!(matches!(CallError::of(&error), Some(CallError::DeadlineExceeded(_))));
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TimeoutLayer {
    deadline: Option<Duration>,
}

/// The service of [`TimeoutLayer`].
#[derive(Clone, Debug)]
pub struct Timeout<S> {
    inner: S,
    deadline: Option<Duration>,
}

// === impl TimeoutLayer ===

impl TimeoutLayer {
    /// Calls may take this long, `None` for ever.
    pub fn new(deadline: impl Into<Option<Duration>>) -> Self {
        Self {
            deadline: deadline.into(),
        }
    }
}

impl<S> Layer<S> for TimeoutLayer {
    type Service = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        let deadline = self.deadline;
        Timeout { inner, deadline }
    }
}

// === impl Timeout ===

impl<K, S> Service<ReconcileRequest<K>> for Timeout<S>
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
        let inner = self.inner.clone();
        let fate = request.fate().clone();
        fate.begin();
        let Some(deadline) = self.deadline else {
            return inner
                .oneshot(request)
                .map(|it| it.map_err(Into::into))
                .boxed();
        };
        async move {
            let (request, unless_answered) = request.cancelled_unless_answered();
            let mut call = pin!(inner.oneshot(request));
            match timeout(deadline, call.as_mut()).await {
                Ok(answer) => {
                    unless_answered.disarm();
                    answer.map_err(Into::into)
                }
                Err(_) => {
                    drop(unless_answered);
                    fate.note(GivenUp::DeadlineExceeded);
                    Err(CallError::DeadlineExceeded(deadline).into())
                }
            }
        }
        .boxed()
    }
}
