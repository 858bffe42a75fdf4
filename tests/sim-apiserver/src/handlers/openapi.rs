//! `/openapi/v3` and `/openapi/v2`: what kubectl reads before it applies, creates or explains.

use faults::RequestInfo;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use serde_json::json as object;

use super::api::{Shared, answer_with, json, plain_text, text};
use crate::{
    body::ApiBody,
    openapi::{Document, Documents},
};

/// How long a client may keep a document whose hash it named: its content never changes.
const KEEP: HeaderValue = HeaderValue::from_static("public, immutable, max-age=31536000");

/// The older format in protobuf, as it is asked for and as the answer names it.
const PROTOBUF_V2: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const PROTOBUF_V2_ANSWER: HeaderValue =
    HeaderValue::from_static("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");

/// An OpenAPI v2 document that defines nothing, in protobuf: `swagger` (field 1), `info` (2) with `title` (1)
/// and `version` (2), and `paths` (8), which are empty.
const NOTHING_V2: &[u8] = b"\x0a\x032.0\x12\x19\x0a\x0aKubernetes\x12\x0bunversioned\x42\x00";

/// The older format says nothing about any kind, and kubectl then leaves checking to the server. It asks for
/// this before it sends a `kind: List`.
pub(super) fn v2(headers: &HeaderMap) -> Response<ApiBody> {
    let mut response = v2_document(headers);
    for varies in ["Accept-Encoding", "Accept"] {
        let varies = HeaderValue::from_static(varies);
        response.headers_mut().append(header::VARY, varies);
    }
    response
}

fn v2_document(headers: &HeaderMap) -> Response<ApiBody> {
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    if accept.is_some_and(|accept| accept.contains(PROTOBUF_V2)) {
        let body = ApiBody::whole(NOTHING_V2);
        return answer_with(StatusCode::OK, PROTOBUF_V2_ANSWER, body);
    }
    let document = object!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": {},
    });
    json(StatusCode::OK, document.to_string())
}

/// `rest` is the path below `/openapi/v3`.
pub(super) fn v3(shared: &Shared, info: &RequestInfo, rest: &[&str]) -> Response<ApiBody> {
    let documents = shared
        .documents
        .get_or_init(|| Documents::new(&shared.kinds));
    if rest.is_empty() {
        // The real server calls this JSON plain text.
        return plain_text(StatusCode::OK, documents.index().to_string());
    }
    let path = rest.join("/");
    let Some(document) = documents.get(&path) else {
        let mut nothing = Response::new(ApiBody::whole(""));
        *nothing.status_mut() = StatusCode::NOT_FOUND;
        return nothing;
    };
    match info.query("hash") {
        // Another server was here before: the client is told where today's document is.
        Some(hash) if hash != document.hash => redirect(&documents.url(&path)),
        hash => whole(document, hash.is_some()),
    }
}

fn whole(document: &Document, named: bool) -> Response<ApiBody> {
    let mut response = json(StatusCode::OK, document.body.clone());
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::try_from(format!("\"{}\"", document.hash)) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    if named {
        headers.insert(header::CACHE_CONTROL, KEEP);
    }
    response
}

fn redirect(url: &str) -> Response<ApiBody> {
    let mut response = text(StatusCode::MOVED_PERMANENTLY, "");
    if let Ok(url) = HeaderValue::try_from(url) {
        response.headers_mut().insert(header::LOCATION, url);
    }
    response
}
