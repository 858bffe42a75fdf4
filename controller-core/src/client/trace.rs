use http::{Request, Response};
use tokio::time::Duration;
use tower_http::classify::ServerErrorsFailureClass;
use tower_http::trace::{MakeSpan, OnFailure, OnResponse};
use tracing::{Span, debug, debug_span, field};

use super::Verb;

/// One span a request, over all its tries: method, path and query, verb, status.
///
/// Headers and bodies are never looked at: they hold tokens and Secrets. For the same
/// reason requests go through `Client::send`: `Client::request` of kube logs a body that
/// it cannot decode.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTrace;

// === impl RequestTrace ===

impl<B> MakeSpan<B> for RequestTrace {
    fn make_span(&mut self, request: &Request<B>) -> Span {
        debug_span!(
            "request",
            method = %request.method(),
            url = %request.uri(),
            verb = request.extensions().get::<Verb>().map(|verb| verb.as_str()),
            status = field::Empty,
        )
    }
}

impl<B> OnResponse<B> for RequestTrace {
    fn on_response(self, response: &Response<B>, latency: std::time::Duration, span: &Span) {
        span.record("status", response.status().as_u16());
        debug!(?latency, "answered");
    }
}

impl OnFailure<ServerErrorsFailureClass> for RequestTrace {
    fn on_failure(&mut self, failure: ServerErrorsFailureClass, latency: Duration, _: &Span) {
        // A 5xx has been reported as an answer; here only what brought none.
        if let ServerErrorsFailureClass::Error(error) = failure {
            debug!(?latency, error, "no answer");
        }
    }
}
