//! Which handler answers a request.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use bytes::Bytes;
use faults::{RequestInfo, Verb};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use parking_lot::RwLock;
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::{call::Call, create, delete, discovery, past, read, review, scale, update};
use crate::{
    body::ApiBody,
    config::Config,
    kinds::Kinds,
    lifecycle::Part,
    openapi::Documents,
    status::ApiStatus,
    store::{State, Store},
};

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) kinds: Kinds,
    /// Made at the first request for one.
    pub(crate) documents: OnceLock<Documents>,
    pub(crate) store: Arc<Store>,
    pub(crate) config: Config,
    /// The accepted bearer tokens; `None` asks for no token.
    pub(crate) tokens: RwLock<Option<Vec<String>>>,
    pub(crate) closed: CancellationToken,
}

/// The API server as a service of whole requests.
#[derive(Clone, Debug)]
pub(crate) struct Api(pub(crate) Arc<Shared>);

/// An answer, or the refusal that becomes one.
pub(super) type Answer = Result<Response<ApiBody>, ApiStatus>;

// === impl Shared ===

impl Shared {
    /// Ends everything that is open.
    pub(crate) fn close(&self) {
        self.closed.cancel();
        self.store.write(State::end_watches);
    }
}

// === impl Api ===

impl Api {
    fn answer(&self, request: &Request<Bytes>) -> Answer {
        let shared = &*self.0;
        let as_of = past::carry_out(shared, request)?;
        let info = RequestInfo::parse(request.method(), request.uri());
        let open = ["/healthz", "/livez", "/readyz", "/version"];
        if !open.contains(&info.path.as_str()) {
            authenticate(shared, request.headers())?;
        }
        if !info.is_resource {
            return Ok(discovery::answer(shared, &info, request));
        }
        let Some(served) = shared
            .kinds
            .by_resource(&info.group, &info.version, &info.resource)
        else {
            return if shared.kinds.serves_group(&info.group) {
                Err(ApiStatus::no_such_resource())
            } else {
                Ok(page_not_found())
            };
        };
        if request.method() == http::Method::HEAD {
            return Err(ApiStatus::method_not_allowed());
        }
        if let Some(name) = &info.name {
            check_path_segment(name)?;
        }
        let call = Call::new(shared, info, request, served, as_of);
        Self::on_resource(&call).map_err(|status| call.in_group(status))
    }

    fn on_resource(call: &Call<'_>) -> Answer {
        let info = &call.info;
        let outside = info.namespace.is_none();
        let itself = info.resource == "namespaces" && info.name.is_some();
        if !call.kind.namespaced && !outside && !itself {
            return Err(ApiStatus::no_such_resource());
        }
        if call.kind.namespaced && outside && !matches!(info.verb, Verb::List | Verb::Watch) {
            return Err(match info.name {
                Some(_) => ApiStatus::no_such_resource(),
                None => ApiStatus::method_not_allowed(),
            });
        }
        match info.subresource.as_deref() {
            Some(_) if is_below_subresource(info) => Err(ApiStatus::no_such_resource()),
            None => on_object(call),
            Some("status") if call.kind.status => on_status(call),
            Some("scale") if call.kind.scale => scale::answer(call),
            Some(_) if call.kind.is_custom() => Err(ApiStatus::not_found(call.kind, call.name())),
            Some(_) => Err(ApiStatus::no_such_resource()),
        }
    }
}

impl Service<Request<Bytes>> for Api {
    type Response = Response<ApiBody>;
    type Error = Infallible;
    type Future = Ready<Result<Response<ApiBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        ready(Ok(self
            .answer(&request)
            .unwrap_or_else(|status| refusal(&status))))
    }
}

fn on_object(call: &Call<'_>) -> Answer {
    if let Some(decide) = call.kind.review {
        return match (call.info.verb, call.info.name.is_some()) {
            (Verb::Create, false) => review::answer(call, decide),
            (_, true) => Err(ApiStatus::no_such_resource()),
            _ => Err(ApiStatus::method_not_allowed()),
        };
    }
    match (call.info.verb, call.info.name.is_some()) {
        (Verb::Get, _) => read::get(call),
        (Verb::List, _) => read::list(call),
        (Verb::Watch, _) => read::watch(call),
        (Verb::Create, false) => create::create(call),
        (Verb::Update, true) => update::put(call, Part::Main),
        (Verb::Patch, true) => update::patch(call, Part::Main),
        (Verb::Delete, true) => delete::delete_one(call),
        (Verb::DeleteCollection, _) if !call.kind.one_by_one() => delete::delete_collection(call),
        _ => Err(ApiStatus::method_not_allowed()),
    }
}

fn on_status(call: &Call<'_>) -> Answer {
    match call.info.verb {
        Verb::Get => read::get(call),
        Verb::Update => update::put(call, Part::Status),
        Verb::Patch => update::patch(call, Part::Status),
        _ => Err(ApiStatus::method_not_allowed()),
    }
}

/// Whether the path goes on behind the subresource.
fn is_below_subresource(info: &RequestInfo) -> bool {
    let depth = info.path.split('/').filter(|part| !part.is_empty()).count();
    let root = if info.group.is_empty() { 2 } else { 3 };
    let namespace = if info.namespace.is_some() { 2 } else { 0 };
    depth > root + namespace + 3
}

/// What no name can be, whatever kind of object it is.
fn check_path_segment(name: &str) -> Result<(), ApiStatus> {
    let why = match name {
        "." | ".." => format!("may not be '{name}'"),
        // To the real server's router it is another path.
        _ if name.contains('/') => return Err(ApiStatus::no_such_resource()),
        _ if name.contains('%') => "may not contain '%'".to_owned(),
        _ => return Ok(()),
    };
    Err(ApiStatus::bad_request(format!(
        "Name parameter invalid: {name:?}: {why}"
    )))
}

fn authenticate(shared: &Shared, headers: &HeaderMap) -> Result<(), ApiStatus> {
    let tokens = shared.tokens.read();
    let Some(tokens) = &*tokens else {
        return Ok(());
    };
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let token = given.strip_prefix("Bearer ").unwrap_or_default();
    if tokens.iter().any(|known| known == token) {
        Ok(())
    } else {
        Err(ApiStatus::unauthorized())
    }
}

/// A JSON answer.
pub(super) fn json(code: StatusCode, body: impl Into<Bytes>) -> Response<ApiBody> {
    answer_with(
        code,
        HeaderValue::from_static("application/json"),
        ApiBody::whole(body),
    )
}

pub(super) fn answer_with(
    code: StatusCode,
    content_type: HeaderValue,
    body: ApiBody,
) -> Response<ApiBody> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

/// The answer for a path that nobody serves: plain text, as the real server's router gives it.
pub(super) fn page_not_found() -> Response<ApiBody> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// Plain text that no browser may take for anything else.
pub(super) fn text(code: StatusCode, body: impl Into<Bytes>) -> Response<ApiBody> {
    let mut response = plain_text(code, body);
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

pub(super) fn plain_text(code: StatusCode, body: impl Into<Bytes>) -> Response<ApiBody> {
    answer_with(
        code,
        HeaderValue::from_static("text/plain; charset=utf-8"),
        ApiBody::whole(body),
    )
}

/// The answer that a refusal becomes.
pub(super) fn refusal(status: &ApiStatus) -> Response<ApiBody> {
    let mut response = json(status.code(), status.encode());
    if let Some(seconds) = status.retry_after() {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, seconds.into());
    }
    response
}
