//! Opaque resourceVersions in a request → those of the server.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, Uri, header, uri::PathAndQuery};

use super::{Rewriter, reveal};

/// Translates the query parameter `resourceVersion` and the body; what was not made here stays.
pub(crate) fn reveal_request(request: &mut Request<Bytes>) {
    if let Some(uri) = reveal_uri(request.uri()) {
        *request.uri_mut() = uri;
    }
    let Some(mut rewriter) = rewriter_for(request.headers()) else {
        return;
    };
    let mut body = BytesMut::with_capacity(request.body().len());
    rewriter.push(request.body(), &mut body);
    rewriter.finish(&mut body);
    if body.len() != request.body().len()
        && let Some(length) = request.headers_mut().get_mut(header::CONTENT_LENGTH)
    {
        *length = body.len().into();
    }
    *request.body_mut() = body.freeze();
}

fn rewriter_for(headers: &HeaderMap) -> Option<Rewriter> {
    let content_type = headers.get(header::CONTENT_TYPE);
    match content_type.and_then(|value| value.to_str().ok()) {
        Some(binary) if binary.contains("protobuf") || binary.contains("cbor") => None,
        Some(patch) if patch.starts_with("application/json-patch+json") => {
            Some(Rewriter::revealing_patch())
        }
        _ => Some(Rewriter::revealing()),
    }
}

fn reveal_uri(uri: &Uri) -> Option<Uri> {
    let query = uri.query()?;
    let mut changed = false;
    let pairs: Vec<String> = query
        .split('&')
        .map(|pair| {
            let revealed = pair
                .strip_prefix("resourceVersion=")
                .and_then(|text| reveal(text.as_bytes()))
                .and_then(|revision| String::from_utf8(revision).ok());
            changed |= revealed.is_some();
            revealed.map_or_else(
                || pair.to_owned(),
                |revision| format!("resourceVersion={revision}"),
            )
        })
        .collect();
    if !changed {
        return None;
    }
    let path_and_query = format!("{}?{}", uri.path(), pairs.join("&"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path_and_query).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opaque::hide;

    fn hidden(revision: &str) -> String {
        String::from_utf8(hide(revision.as_bytes()).unwrap()).unwrap()
    }

    fn revealed(uri: &str, content_type: &str, body: &str) -> Request<Bytes> {
        let mut request = Request::builder()
            .uri(uri.replace("OPAQUE", &hidden("41")))
            .header(header::CONTENT_TYPE, content_type)
            .header(header::CONTENT_LENGTH, "1")
            .body(Bytes::from(body.replace("OPAQUE", &hidden("41"))))
            .unwrap();
        reveal_request(&mut request);
        request
    }

    #[test]
    fn the_query_is_translated_and_nothing_else_of_it() {
        for (uri, expected) in [
            (
                "/api/v1/pods?watch=1&resourceVersion=OPAQUE&a=%20b",
                "/api/v1/pods?watch=1&resourceVersion=41&a=%20b",
            ),
            (
                "https://host:1/p?resourceVersion=OPAQUE",
                "https://host:1/p?resourceVersion=41",
            ),
            (
                "/p?resourceVersion=7&resourceVersionMatch=Exact",
                "/p?resourceVersion=7&resourceVersionMatch=Exact",
            ),
            ("/p?resourceVersion=0&x=%41", "/p?resourceVersion=0&x=%41"),
            ("/p", "/p"),
        ] {
            assert_eq!(revealed(uri, "application/json", "").uri(), expected);
        }
    }

    #[test]
    fn bodies_are_translated_as_their_type_says() {
        let body = |content_type: &str, body: &str| {
            let request = revealed("/p", content_type, body);
            let length = request.body().len().to_string();
            let told = request.headers()[header::CONTENT_LENGTH]
                .to_str()
                .unwrap()
                .to_owned();
            let same = request.body() == body.replace("OPAQUE", &hidden("41")).as_bytes();
            assert!(told == if same { "1".to_owned() } else { length }, "{told}");
            String::from_utf8(request.into_body().to_vec())
                .unwrap()
                .replace(&hidden("41"), "OPAQUE")
        };
        let merge = r#"{"metadata": {"resourceVersion": "OPAQUE"}, "value": "OPAQUE"}"#;
        let expected = r#"{"metadata": {"resourceVersion": "41"}, "value": "OPAQUE"}"#;
        assert_eq!(body("application/merge-patch+json", merge), expected);
        assert_eq!(body("application/vnd.kubernetes.protobuf", merge), merge);

        let patch = r#"[{"op":"test","path":"/metadata/resourceVersion","value":"OPAQUE"}]"#;
        let expected = r#"[{"op":"test","path":"/metadata/resourceVersion","value":"41"}]"#;
        assert_eq!(body("application/json-patch+json", patch), expected);
    }
}
