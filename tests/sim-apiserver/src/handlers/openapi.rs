//! `/openapi/v3`: what kubectl reads before it applies, creates or explains.

use faults::RequestInfo;
use http::{HeaderValue, Response, StatusCode, header};

use super::api::{Shared, json, page_not_found, text};
use crate::{
    body::ApiBody,
    openapi::{Document, Documents},
};

/// How long a client may keep a document whose hash it named: its content never changes.
const KEEP: HeaderValue = HeaderValue::from_static("public, immutable, max-age=31536000");

/// `rest` is the path below `/openapi/v3`.
pub(super) fn answer(shared: &Shared, info: &RequestInfo, rest: &[&str]) -> Response<ApiBody> {
    let documents = shared
        .documents
        .get_or_init(|| Documents::new(&shared.kinds));
    if rest.is_empty() {
        return json(StatusCode::OK, documents.index().to_string());
    }
    let path = rest.join("/");
    let Some(document) = documents.get(&path) else {
        return page_not_found();
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
