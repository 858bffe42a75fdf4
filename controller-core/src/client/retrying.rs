use std::future::poll_fn;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use kube::client::Body;
use kube::core::Status;
use tokio::time::{Duration, Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::{BoxError, Layer, Service};
use tracing::{debug, warn};

use super::retry::{OnWait, RetryPolicy, StopRetrying, Waiting};
use super::stack::ResponseBody;

/// From here on a person at a terminal wonders what is going on.
const NOTICEABLE: Duration = Duration::from_secs(2);

/// The part of a refusal that is read for its sentence, and for how long.
const MAX_REFUSAL: usize = 64 * 1024;
const REFUSAL_DEADLINE: Duration = Duration::from_secs(2);

/// Sends a request again as [`RetryPolicy`] allows.
///
/// Each try is the same request, byte for byte: bodies are kept in memory, and one that
/// is a stream is sent once. The clone costs two pointers and the headers.
///
/// Every wait is a log event with the server's sentence. The one that carries a request
/// past two seconds is a warning, so that whoever looks at a terminal learns within three
/// what it is waiting for; the others are for debugging. [`OnWait`] gets all of them.
///
/// `tower::retry` would do but for one thing: its policy cannot read the body of a
/// refused try. We want the server's sentence for the person who waits, and a body read
/// to its end keeps the connection, where an overloaded server would otherwise pay for a
/// new handshake with every try.
#[derive(Clone, Debug)]
pub(super) struct RetryLayer {
    pub(super) policy: RetryPolicy,
    pub(super) on_wait: Option<OnWait>,
}

/// The service of [`RetryLayer`]. Its futures own a clone of the inner service each, so
/// that one request's wait is no other's.
#[derive(Clone, Debug)]
pub(super) struct Retry<S> {
    inner: S,
    layer: RetryLayer,
}

// === impl RetryLayer ===

impl<S> Layer<S> for RetryLayer {
    type Service = Retry<S>;

    fn layer(&self, inner: S) -> Retry<S> {
        Retry {
            inner,
            layer: self.clone(),
        }
    }
}

impl RetryLayer {
    fn announce(&self, waiting: &Waiting) {
        let Waiting {
            request,
            why,
            tries,
            elapsed,
            wait,
        } = waiting;
        let before = *elapsed;
        // Once per request loud enough to be seen, when it begins to be noticed.
        if before < NOTICEABLE && before + *wait >= NOTICEABLE {
            warn!(%request, tries, ?wait, "waiting for the server: {why}");
        } else {
            debug!(%request, tries, ?wait, "waiting for the server: {why}");
        }
        if let Some(hook) = &self.on_wait {
            hook.call(waiting);
        }
    }
}

// === impl Retry ===

impl<S> Service<Request<Body>> for Retry<S>
where
    S: Service<Request<Body>, Response = Response<ResponseBody>, Error = BoxError>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // The clone has not been polled ready; the one that has goes into the future.
        let clone = self.inner.clone();
        let service = std::mem::replace(&mut self.inner, clone);
        Box::pin(send(service, self.layer.clone(), request))
    }
}

/// Tries until there is an answer to hand out: a success, a failure that no repetition
/// mends, the last one that the policy allows, or the last one before the caller's stop.
async fn send<S>(
    mut service: S,
    layer: RetryLayer,
    mut request: Request<Body>,
) -> Result<Response<ResponseBody>, BoxError>
where
    S: Service<Request<Body>, Response = Response<ResponseBody>, Error = BoxError>,
{
    let started = Instant::now();
    let stop = match request.extensions().get() {
        Some(StopRetrying(stop)) => stop.clone(),
        None => CancellationToken::new(),
    };
    for tries in 1.. {
        let Some(next) = repeat(&request) else {
            break;
        };
        let outcome = service.call(request).await;
        let wait = layer.policy.wait(
            &next,
            &outcome,
            tries,
            started.elapsed(),
            rand::random_range(0.0..1.0),
        );
        let Some(wait) = wait.filter(|_| !stop.is_cancelled()) else {
            return outcome;
        };
        let (why, outcome) = why(outcome).await;
        let waiting = Waiting {
            request: format!("{} {}", next.method(), next.uri().path()),
            why,
            tries,
            elapsed: started.elapsed(),
            wait,
        };
        layer.announce(&waiting);
        // The stop counts first: who is woken by both at once does not send.
        if stop.run_until_cancelled(sleep(wait)).await.is_none() {
            return outcome;
        }
        poll_fn(|cx| service.poll_ready(cx)).await?;
        request = next;
    }
    service.call(request).await
}

/// The same request once more; `None` when its body is a stream, which is gone once sent.
fn repeat(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().try_clone()?);
    *again.method_mut() = request.method().clone();
    *again.uri_mut() = request.uri().clone();
    *again.version_mut() = request.version();
    *again.headers_mut() = request.headers().clone();
    *again.extensions_mut() = request.extensions().clone();
    Some(again)
}

/// Reads the refusal to its end. Returns its sentence, and the refusal as far as it was read.
async fn why(
    outcome: Result<Response<ResponseBody>, BoxError>,
) -> (String, Result<Response<ResponseBody>, BoxError>) {
    let (head, body) = match outcome {
        Ok(response) => response.into_parts(),
        Err(error) => return ("the connection was lost".into(), Err(error)),
    };
    let mut bytes = Vec::new();
    // What does not arrive in time is no Status.
    let _ = timeout(REFUSAL_DEADLINE, read(body, &mut bytes)).await;
    let sentence = serde_json::from_slice::<Status>(&bytes)
        .ok()
        .map(|status| status.message)
        .filter(|message| !message.is_empty())
        .unwrap_or_else(|| format!("it answered {}", head.status));
    let body = Full::from(bytes).map_err(Into::into).boxed_unsync();
    (sentence, Ok(Response::from_parts(head, body)))
}

/// As much of `body` as is worth reading. What is longer or breaks off is no Status.
async fn read(mut body: ResponseBody, bytes: &mut Vec<u8>) {
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > MAX_REFUSAL {
            break;
        }
    }
}
