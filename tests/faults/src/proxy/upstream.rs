//! The server behind a proxy.

use std::{
    convert::Infallible,
    error::Error,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{Either, Full};
use tower::{Service, ServiceExt};

use crate::{Action, BoxError, ServerFaults, StatusFault};

/// Passes requests on; where that fails it says so with a `Status`.
///
/// It stands behind the layer of faults, so that an upstream that cannot be reached is told from a connection
/// that a rule cut.
#[derive(Clone, Debug)]
pub(super) struct Upstream<S> {
    inner: S,
}

/// What the upstream answered, or a `Status`.
pub(super) type UpstreamBody<B> = Either<B, Full<Bytes>>;

type Answer<B> =
    Pin<Box<dyn Future<Output = Result<Response<UpstreamBody<B>>, Infallible>> + Send>>;

// === impl Upstream ===

impl<S> Upstream<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S, B> Service<Request<Bytes>> for Upstream<S>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UpstreamBody<B>>;
    type Error = Infallible;
    type Future = Answer<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Bytes>) -> Self::Future {
        let faults = request.extensions().get::<ServerFaults>().copied();
        // What is in there is about the client's connection.
        request.extensions_mut().clear();
        let inner = self.inner.clone();
        Box::pin(async move {
            if let Some(word) = faults.and_then(word) {
                return Ok(cannot(word)
                    .response()
                    .map(|body| Either::Right(body.into())));
            }
            Ok(match inner.oneshot(request).await {
                Ok(response) => response.map(Either::Left),
                Err(error) => unreachable(&*error.into())
                    .response()
                    .map(|body| Either::Right(body.into())),
            })
        })
    }
}

/// The word of a script that asks for this.
fn word(faults: ServerFaults) -> Option<&'static str> {
    let answer_from = faults.answer_from.map(Action::AnswerFrom);
    let action = answer_from.or(faults.restore.map(Action::Restore))?;
    Some(action.word())
}

fn cannot(word: &str) -> StatusFault {
    StatusFault::new(StatusCode::NOT_IMPLEMENTED).message(format!(
        "a proxy cannot do `{word}`, only the simulated server can"
    ))
}

fn unreachable(error: &(dyn Error + 'static)) -> StatusFault {
    let mut causes = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    StatusFault::new(StatusCode::BAD_GATEWAY).message(format!(
        "the server behind the proxy did not answer: {}",
        causes.join(": ")
    ))
}
