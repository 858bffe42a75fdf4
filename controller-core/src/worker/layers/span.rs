use std::fmt::Display;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tower::{Layer, Service};
use tracing::instrument::Instrumented;
use tracing::{Instrument, Span, info_span};
use uuid::Uuid;

use crate::worker::ReconcileRequest;
use crate::worker::key_text::KeyText;

/// Runs each call in the span
/// `reconcile{queue, key, attempt, queued_for, reconcileID}` of the target
/// `controller_core::reconcile`.
///
/// Everything that is logged on behalf of a call, by whatever stage, has its id then; the same
/// key again is another call with another id. The target is one of its own so that a log can
/// have the ids without everything else that the workers tell, and the other way round. The
/// id's name is controller-runtime's.
///
/// It is ready when what it wraps is. Waits for that are outside of the span.
#[derive(Clone, Debug)]
pub struct SpanLayer {
    queue: Arc<str>,
}

/// The service of [`SpanLayer`].
#[derive(Clone, Debug)]
pub struct Spanned<S> {
    inner: S,
    queue: Arc<str>,
}

/// The span of one call. What a pass without a queue does not know is left out.
pub(crate) fn reconcile_span(
    queue: &str,
    key: &impl Display,
    attempt: Option<u32>,
    queued_for: Option<Duration>,
) -> Span {
    info_span!(
        target: "controller_core::reconcile",
        "reconcile",
        queue,
        key = %KeyText(key),
        attempt,
        queued_for = queued_for.map(tracing::field::debug),
        reconcileID = %Uuid::new_v4(),
    )
}

// === impl SpanLayer ===

impl SpanLayer {
    /// In the name of this queue.
    pub fn new(queue: impl Into<Arc<str>>) -> Self {
        Self {
            queue: queue.into(),
        }
    }
}

impl<S> Layer<S> for SpanLayer {
    type Service = Spanned<S>;

    fn layer(&self, inner: S) -> Spanned<S> {
        let queue = Arc::clone(&self.queue);
        Spanned { inner, queue }
    }
}

// === impl Spanned ===

impl<K: Display, S: Service<ReconcileRequest<K>>> Service<ReconcileRequest<K>> for Spanned<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = Instrumented<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: ReconcileRequest<K>) -> Self::Future {
        let (attempt, queued_for) = (Some(request.attempt()), request.queued_for());
        let span = reconcile_span(&self.queue, request.key(), attempt, queued_for);
        let call = span.in_scope(|| self.inner.call(request));
        call.instrument(span)
    }
}
