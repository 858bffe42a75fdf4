//! The tower layer that carries a script out.

use std::{
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body::Body;
use tower::{Layer, Service};

use crate::{
    Action, BoxError, FaultBody, Faults, RequestInfo, ResetSwitch, ServerFaults, StatusFault,
    StreamFault, opaque::reveal_request, reset::connection_reset,
};

/// Wraps a service that answers Kubernetes requests; see [`Faults::layer`].
#[derive(Clone, Debug)]
pub struct FaultLayer {
    faults: Faults,
}

/// A service whose answers may go wrong.
///
/// Waiting happens in the returned future, never in `poll_ready`: a delayed request holds up no other.
#[derive(Clone, Debug)]
pub struct FaultService<S> {
    inner: S,
    faults: Faults,
}

/// The future of [`FaultService`].
type Answer<B> = Pin<Box<dyn Future<Output = Result<Response<FaultBody<B>>, BoxError>> + Send>>;

// === impl FaultLayer ===

impl FaultLayer {
    /// A layer that carries out the rules of this handle.
    #[must_use]
    pub fn new(faults: Faults) -> Self {
        Self { faults }
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = FaultService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        FaultService {
            inner,
            faults: self.faults.clone(),
        }
    }
}

// === impl FaultService ===

impl<S, B> Service<Request<Bytes>> for FaultService<S>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<FaultBody<B>>;
    type Error = BoxError;
    type Future = Answer<B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let info = RequestInfo::parse(request.method(), request.uri());
        let actions = self.faults.decide(&info);
        // After the decision: who waits for a request and then adds a rule means the next one.
        let under_way = self.faults.note(&info);
        // The clone is not known to be ready, the one that was polled is.
        let clone = self.inner.clone();
        let inner = mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            let response = carry_out(actions, inner, request).await?;
            Ok(response.map(|body| body.of(under_way)))
        })
    }
}

async fn carry_out<S, B>(
    actions: Vec<Action>,
    mut inner: S,
    mut request: Request<Bytes>,
) -> Result<Response<FaultBody<B>>, BoxError>
where
    S: Service<Request<Bytes>, Response = Response<B>>,
    S::Error: Into<BoxError>,
{
    let reset = request.extensions().get::<ResetSwitch>().cloned();
    let mut stream_faults: Vec<StreamFault> = Vec::new();
    let mut answer_delay = None;
    let mut lose_answer = false;
    let mut false_answer = None;
    let mut opaque = false;
    let mut server_faults = ServerFaults::default();
    for action in actions {
        match action {
            Action::Status(status) => return Ok(status.response().map(FaultBody::made_up)),
            Action::Expired => return Ok(expired().response().map(FaultBody::made_up)),
            Action::Delay(time) => tokio::time::sleep(time).await,
            Action::Hang => futures::future::pending().await,
            Action::Reset => return Err(trip(reset.as_ref())),
            Action::DelayAnswer(time) => answer_delay = Some(time),
            Action::LostAnswer => lose_answer = true,
            Action::FalseAnswer(status) => false_answer = Some(status),
            Action::Stream(fault) => stream_faults.push(fault),
            Action::AnswerFrom(past) => server_faults.answer_from = Some(past),
            Action::Restore(past) => server_faults.restore = Some(past),
            Action::OpaqueRevisions => opaque = true,
        }
    }
    if server_faults != ServerFaults::default() {
        request.extensions_mut().insert(server_faults);
    }
    if opaque {
        reveal_request(&mut request);
    }

    let mut response = inner.call(request).await.map_err(Into::into)?;
    if let Some(time) = answer_delay {
        tokio::time::sleep(time).await;
    }
    if lose_answer {
        return Err(trip(reset.as_ref()));
    }
    if let Some(status) = false_answer {
        return Ok(status.response().map(FaultBody::made_up));
    }
    if !response.status().is_success() {
        stream_faults.clear();
    }
    let opaque = opaque && is_json(response.headers());
    if stream_faults.is_empty() && !opaque {
        return Ok(response.map(FaultBody::untouched));
    }
    response.headers_mut().remove(header::CONTENT_LENGTH);
    Ok(response.map(|body| FaultBody::spoilt(body, opaque, stream_faults, reset)))
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/json"))
}

fn trip(reset: Option<&ResetSwitch>) -> BoxError {
    if let Some(reset) = reset {
        reset.trip();
    }
    connection_reset().into()
}

/// The answer of a server whose history does not reach back to what a list or watch asks for.
fn expired() -> StatusFault {
    StatusFault::new(StatusCode::GONE)
        .reason("Expired")
        .message("The resourceVersion for the provided watch is too old.")
}
