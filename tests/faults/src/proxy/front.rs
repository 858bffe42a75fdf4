//! A client's request → what the upstream is given, or a refusal.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{
    HeaderMap, Method, Request, Response, StatusCode, Uri, Version, header, request::Parts,
};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tower::{Layer, Service, ServiceExt};

use super::{
    headers::{prepare_request, strip_hop_by_hop},
    upstream::{Upstream, UpstreamBody},
};
use crate::{BoxError, FaultBody, FaultService, Faults, StatusFault};

/// The side of the proxy that clients see.
#[derive(Clone, Debug)]
pub(super) struct Front<S> {
    stack: FaultService<Upstream<S>>,
}

type Answer<B> =
    Pin<Box<dyn Future<Output = Result<Response<FaultBody<UpstreamBody<B>>>, BoxError>> + Send>>;

/// How large a request's body may be. The real server takes 3 MiB.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

// === impl Front ===

impl<S> Front<S> {
    pub(super) fn new(upstream: Upstream<S>, faults: &Faults) -> Self {
        Self {
            stack: faults.layer().layer(upstream),
        }
    }
}

impl<S, Q, B> Service<Request<Q>> for Front<S>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    Q: Body<Data = Bytes> + Send + 'static,
    Q::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<FaultBody<UpstreamBody<B>>>;
    type Error = BoxError;
    type Future = Answer<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let stack = self.stack.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            if let Some(refusal) = refusal(&parts) {
                return Ok(refusal.response().map(FaultBody::made_up));
            }
            let Some(body) = collect(body, LARGEST_BODY).await? else {
                return Ok(too_large().response().map(FaultBody::made_up));
            };
            parts.uri = origin_form(&parts.uri)?;
            prepare_request(&mut parts.headers);
            let mut response = stack.oneshot(Request::from_parts(parts, body)).await?;
            *response.version_mut() = Version::HTTP_11;
            strip_hop_by_hop(response.headers_mut());
            Ok(response)
        })
    }
}

/// What cannot be passed on, whatever its body.
fn refusal(parts: &Parts) -> Option<StatusFault> {
    if !is_loopback(parts) {
        let refusal = StatusFault::new(StatusCode::FORBIDDEN);
        return Some(refusal.message("the proxy answers only to 127.0.0.1, [::1] and localhost"));
    }
    if parts.method == Method::CONNECT || parts.headers.contains_key(header::UPGRADE) {
        let refusal = StatusFault::new(StatusCode::NOT_IMPLEMENTED);
        return Some(refusal.message(
            "the proxy cannot upgrade connections, as exec, attach and port-forward ask for",
        ));
    }
    content_length(&parts.headers)
        .is_some_and(|length| length > LARGEST_BODY as u64)
        .then(too_large)
}

/// A page that a browser shows could make it ask this port under a name of its own.
fn is_loopback(parts: &Parts) -> bool {
    let named = parts.headers.get(header::HOST);
    let named = match (named.map(|host| host.to_str()), parts.uri.authority()) {
        (Some(Ok(host)), _) => host,
        (Some(Err(_)), _) => return false,
        (None, Some(authority)) => authority.as_str(),
        (None, None) => return true,
    };
    let host = match named.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => named,
    };
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

fn too_large() -> StatusFault {
    let megabytes = LARGEST_BODY / (1024 * 1024);
    StatusFault::new(StatusCode::PAYLOAD_TOO_LARGE)
        .message(format!("the proxy takes bodies of at most {megabytes} MiB"))
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    let value = headers.get(header::CONTENT_LENGTH)?;
    value.to_str().ok()?.parse().ok()
}

/// The whole body; `None` if it is larger than `limit`.
async fn collect<Q>(body: Q, limit: usize) -> Result<Option<Bytes>, BoxError>
where
    Q: Body<Data = Bytes>,
    Q::Error: Into<BoxError>,
{
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(Some(body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Ok(None),
        Err(error) => Err(error),
    }
}

fn origin_form(uri: &Uri) -> Result<Uri, BoxError> {
    let path_and_query = uri.path_and_query().map_or("/", |path| path.as_str());
    Ok(path_and_query.parse()?)
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    #[tokio::test]
    async fn a_body_of_unknown_length_is_bounded_too() {
        let body = || Full::from(vec![b'x'; 100]);
        assert_eq!(collect(body(), 100).await.unwrap().unwrap().len(), 100);
        assert_eq!(collect(body(), 99).await.unwrap(), None);
    }

    #[test]
    fn only_names_of_the_loopback_are_its_own() {
        for (host, own) in [
            ("127.0.0.1:8001", true),
            ("127.0.0.1", true),
            ("localhost:8001", true),
            ("[::1]:8001", true),
            ("[::1]", true),
            ("attacker.example.com:8001", false),
            ("127.0.0.1.example.com", false),
            ("localhost.example.com:80", false),
            ("", false),
        ] {
            let request = Request::builder().uri("/").header(header::HOST, host);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(is_loopback(&parts), own, "{host}");
        }
        let (parts, ()) = Request::new(()).into_parts();
        assert!(
            is_loopback(&parts),
            "HTTP/1.0 names none, and a browser always does"
        );
    }
}
