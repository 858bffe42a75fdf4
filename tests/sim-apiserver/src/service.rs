//! The server as a tower service.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use faults::{BoxError, FaultBody, FaultService, Faults};
use http::{HeaderValue, Request, Response, header};
use http_body::Body;
use http_body_util::BodyExt;
use tower::{Layer, Service, ServiceExt};

use crate::{body::ApiBody, handlers::Api, recorder::Recorder};

/// Answers requests without a socket. Clones speak to the same server.
///
/// It takes any request body, so it fits `kube::Client::new(service, "default")` as well as hyper.
#[derive(Clone, Debug)]
pub struct SimService {
    stack: FaultService<Api>,
    recorder: Arc<Recorder>,
    connection: Option<u64>,
}

/// What the real server says of everything that must not be kept.
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, private");

type Answer = Pin<Box<dyn Future<Output = Result<Response<FaultBody<ApiBody>>, BoxError>> + Send>>;

// === impl SimService ===

impl SimService {
    pub(crate) fn new(faults: &Faults, api: Api, recorder: Arc<Recorder>) -> Self {
        Self {
            stack: faults.layer().layer(api),
            recorder,
            connection: None,
        }
    }

    /// The same, for the requests of one connection.
    pub(crate) fn on_connection(&self, number: u64) -> Self {
        Self {
            connection: Some(number),
            ..self.clone()
        }
    }
}

impl<B> Service<Request<B>> for SimService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<FaultBody<ApiBody>>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (stack, recorder) = (self.stack.clone(), Arc::clone(&self.recorder));
        let (parts, body) = request.into_parts();
        let id = recorder.begin(&parts, self.connection);
        let over_socket = self.connection.is_some();
        Box::pin(async move {
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            recorder.body(id, &body);
            let mut response = stack.oneshot(Request::from_parts(parts, body)).await?;
            if over_socket {
                let headers = response.headers_mut();
                headers.entry(header::CACHE_CONTROL).or_insert(NO_CACHE);
            }
            recorder.answered(id, response.status());
            Ok(response)
        })
    }
}
