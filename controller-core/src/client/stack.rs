use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use kube::Client;
use kube::client::Body;
use tokio::time::Duration;
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::map_response_body::MapResponseBodyLayer;
use tower_http::set_header::SetRequestHeaderLayer;
use tower_http::trace::TraceLayer;

use super::deadline::DeadlineLayer;
use super::retry::{OnWait, RetryPolicy};
use super::retrying::RetryLayer;
use super::trace::RequestTrace;

/// The settings of the layers around every request: the half of client-go's `rest.Config`
/// that is not about where the server is and who is asking, which is
/// [`Loaded`](super::Loaded).
///
/// The defaults suit a program at a terminal. A controller wants a request timeout too,
/// since a worker that waits for ever is a worker less:
///
/// ```
/// use controller_core::client::{ClientOptions, user_agent};
/// use tokio::time::Duration;
///
/// let mut options = ClientOptions::new(user_agent("my-controller", "1.0"));
/// options.request_timeout = Some(Duration::from_secs(30));
/// ```
///
/// The dangerous mistake is to make the request timeout shorter than an overloaded server
/// needs to begin its answer to a list. The list fails, is asked for again, and fails again:
/// a client that gives up too soon makes the server work for nothing.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// What the server's audit log shows as the client; see [`user_agent`].
    pub user_agent: String,
    /// How long one try of a request may take, head and body. It does not cut watches, nor a
    /// list that keeps coming: there it is the limit for the head, and for each frame.
    /// `None` is no limit, for a list 60 s; making a connection is limited all the same.
    ///
    /// Whoever awaits writes at the end of a program waits for this long and a little more:
    /// see [`ScaleWriter::flush`](crate::write::ScaleWriter::flush).
    pub request_timeout: Option<Duration>,
    /// How long a connection may take: name resolution, TCP, proxy and TLS together.
    pub connect_timeout: Duration,
    /// What is tried again.
    pub retry: RetryPolicy,
    /// Told of every wait before another try.
    pub on_wait: Option<OnWait>,
}

/// A body of any layer or server, its type forgotten.
pub(super) type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

/// Puts the client's layers over `service`: what [`build`](super::build) puts over a
/// network connection, for an in-memory server.
///
/// The answers' errors are then the service's own; nothing names a server address.
///
/// This is how a controller is tested as a whole: retries, deadlines and the sorting of
/// errors are the real ones, and only the bytes do not leave the process. With a paused
/// clock it is also quick; keep client and server on one current-thread runtime then.
///
/// ```
/// use std::convert::Infallible;
///
/// use controller_core::client::{Call, ClientOptions, ResourceType, Scope, fetch, layered};
/// use http_body_util::Full;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), controller_core::client::ApiError> {
/// let server = tower::service_fn(async |_: http::Request<kube::client::Body>| {
///     Ok::<_, Infallible>(http::Response::new(Full::from(r#"{"items": []}"#)))
/// });
/// let client = layered(server, &ClientOptions::new("test/1.0"));
///
/// const PODS: ResourceType = ResourceType::namespaced("", "v1", "pods", "Pod");
/// let pods: serde_json::Value = fetch(&client, Call::list(&PODS, &Scope::All)).await?;
/// assert_eq!(pods, serde_json::json!({ "items": [] }));
/// # Ok(())
/// # }
/// ```
///
/// Must be called within a tokio runtime: kube's client has a task of its own.
pub fn layered<S, B>(service: S, options: &ClientOptions) -> Client
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    assemble(service, options, "default")
}

/// The list of layers: the first sees the request first and the answer last.
///
/// The order is a decision, each line for a reason. The span is outermost, so that waits
/// are inside it. Retry stands above the deadline, which is per try. Whatever a new try
/// needs anew, a token or a turn at the rate limit, stands below retry. The user agent is
/// near the wire, so that no layer's own request goes without it.
pub(super) fn assemble<S, B>(service: S, options: &ClientOptions, namespace: &str) -> Client
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let stack = ServiceBuilder::new()
        // Once per request:
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(RequestTrace)
                .on_request(())
                .on_response(RequestTrace)
                .on_body_chunk(())
                .on_eos(())
                .on_failure(RequestTrace),
        )
        .layer(RetryLayer {
            policy: options.retry.clone(),
            on_wait: options.on_wait.clone(),
        })
        // Once per try. A client-side rate limit belongs here: above the deadline, so
        // that waiting for a turn is not taken for a slow server.
        .layer(DeadlineLayer {
            limit: options.request_timeout,
        })
        // The server's `Warning` headers and one credential refresh on 401 belong here,
        // metrics per try below the user agent, next to the wire.
        .layer(SetRequestHeaderLayer::overriding(
            USER_AGENT,
            header_value(&options.user_agent),
        ))
        .layer(MapResponseBodyLayer::new(|body: B| {
            body.map_err(Into::into).boxed_unsync()
        }))
        .map_err(Into::<BoxError>::into)
        .service(service);
    Client::new(stack, namespace)
}

/// `kubectl-minrep/0.1.0 (linux/amd64)`: a user agent in the shape of kubectl's, with
/// Go's names for the platform, as the audit logs of clusters are searched for.
pub fn user_agent(product: &str, version: &str) -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("{product}/{version} ({os}/{arch})")
}

/// A header holds visible ASCII; anything else in a product name becomes `_`.
fn header_value(text: &str) -> HeaderValue {
    let clean: String = text
        .chars()
        .map(|c| if matches!(c, ' '..='~') { c } else { '_' })
        .collect();
    HeaderValue::from_str(&clean).expect("invariant: printable ASCII is a header value")
}

// === impl ClientOptions ===

impl ClientOptions {
    /// The defaults under a user agent: 30 s for a connection, no limit for a request,
    /// the default [`RetryPolicy`].
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self {
            user_agent: user_agent.into(),
            request_timeout: None,
            connect_timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            on_wait: None,
        }
    }
}
