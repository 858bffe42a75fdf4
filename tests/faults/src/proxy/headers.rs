//! Which headers a proxy passes on.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// What is about a connection and not about what is sent over it (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Encodings of objects without lines.
const BINARY: [&str; 3] = [
    "application/vnd.kubernetes.protobuf",
    "application/cbor",
    "application/cbor-seq",
];

/// Removes what ends here, those headers included that `Connection` names.
pub(super) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// Makes a client's headers the upstream's: it sets its own host and length, and must answer in text.
pub(super) fn prepare_request(headers: &mut HeaderMap) {
    strip_hop_by_hop(headers);
    for name in [
        header::HOST,
        header::ACCEPT_ENCODING,
        header::CONTENT_LENGTH,
        header::EXPECT,
        header::PROXY_AUTHORIZATION,
    ] {
        headers.remove(name);
    }
    if let Some(accept) = without_binary(headers) {
        headers.insert(header::ACCEPT, accept);
    }
}

/// The ranges of `Accept` that are text; `None` if there is nothing to change, or none would remain.
fn without_binary(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut ranges = Vec::new();
    for value in headers.get_all(header::ACCEPT) {
        ranges.extend(value.to_str().ok()?.split(',').map(str::trim));
    }
    let is_binary = |range: &&str| {
        let media_type = range.split(';').next().unwrap_or_default().trim_end();
        BINARY
            .iter()
            .any(|binary| media_type.eq_ignore_ascii_case(binary))
    };
    let text: Vec<&str> = ranges
        .iter()
        .copied()
        .filter(|range| !is_binary(range))
        .collect();
    if text.is_empty() || text.len() == ranges.len() {
        return None;
    }
    HeaderValue::from_str(&text.join(", ")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(values: &[&str]) -> String {
        let values = values
            .iter()
            .map(|value| (header::ACCEPT, value.parse().unwrap()));
        let mut headers: HeaderMap = HeaderMap::new();
        for (name, value) in values {
            headers.append(name, value);
        }
        prepare_request(&mut headers);
        let values = headers.get_all(header::ACCEPT).iter();
        values
            .map(|value| value.to_str().unwrap())
            .collect::<Vec<_>>()
            .join(" | ")
    }

    #[test]
    fn binary_encodings_are_not_asked_for_where_text_will_do() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        for (values, expected) in [
            (
                &["application/vnd.kubernetes.protobuf, application/json"][..],
                "application/json",
            ),
            (
                &["application/vnd.kubernetes.protobuf;stream=watch,application/json;q=0.9"],
                "application/json;q=0.9",
            ),
            (
                &[
                    "Application/Vnd.Kubernetes.Protobuf",
                    "application/cbor",
                    "*/*",
                ],
                "*/*",
            ),
            (
                &["application/vnd.kubernetes.protobuf"],
                "application/vnd.kubernetes.protobuf",
            ),
            (
                &[table, "application/json"],
                &format!("{table} | application/json"),
            ),
            (&[], ""),
        ] {
            assert_eq!(accept(values), expected);
        }
    }

    #[test]
    fn what_is_about_a_connection_ends_here() {
        let mut headers: HeaderMap = [
            ("connection", "keep-alive, X-Secret"),
            ("x-secret", "1"),
            ("x-kept", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
        ]
        .into_iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect();
        strip_hop_by_hop(&mut headers);
        let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["content-length", "x-kept"]);
    }
}
