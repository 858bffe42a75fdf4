//! Answers made up by a rule.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

/// An answer made up by a rule: by default a Kubernetes `Status` object, or any body.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusFault {
    /// The HTTP status code: 200 or above. What is below only announces an answer, and no server sends it as
    /// one.
    pub code: StatusCode,
    /// The machine-readable reason; by default the one that belongs to the code.
    pub reason: Option<String>,
    /// The sentence for people; by default one that says that a rule made it up.
    pub message: Option<String>,
    /// The `details` of the Status object.
    pub details: Option<Value>,
    /// Further headers. `Content-Length` and `Transfer-Encoding` are left out: they follow from the body.
    pub headers: HeaderMap,
    /// A raw body instead of the Status object, for gateways that answer HTML and for broken servers.
    pub body: Option<Bytes>,
    /// The content type; by default `application/json`.
    pub content_type: Option<HeaderValue>,
}

// === impl StatusFault ===

impl StatusFault {
    /// A server that is told other lengths than it sends panics, or lets the next answer begin in this one.
    pub(crate) const FRAMING: [HeaderName; 2] = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING];

    /// An answer with this code and nothing else said.
    #[must_use]
    pub fn new(code: StatusCode) -> Self {
        Self {
            code,
            reason: None,
            message: None,
            details: None,
            headers: HeaderMap::new(),
            body: None,
            content_type: None,
        }
    }

    /// Sets the reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Sets the message.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the `details` object.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Adds `Retry-After` in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(http::header::RETRY_AFTER, seconds.into())
    }

    /// Sets a raw body and its content type.
    #[must_use]
    pub fn body(mut self, content_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        self.content_type = Some(content_type);
        self.body = Some(body.into());
        self
    }

    pub(crate) fn response(&self) -> Response<Bytes> {
        let body = self
            .body
            .clone()
            .unwrap_or_else(|| Bytes::from(self.status_object().to_string()));
        let mut response = Response::new(body);
        *response.status_mut() = self.code;
        let content_type = self
            .content_type
            .clone()
            .unwrap_or_else(|| HeaderValue::from_static("application/json"));
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, content_type);
        let headers = self.headers.iter();
        for (name, value) in headers.filter(|(name, _)| !Self::FRAMING.contains(name)) {
            response.headers_mut().append(name, value.clone());
        }
        response
    }

    fn status_object(&self) -> Value {
        let message = self
            .message
            .clone()
            .unwrap_or_else(|| format!("a fault rule answered {}", self.code.as_u16()));
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "code": self.code.as_u16(),
        });
        if let Some(reason) = self.reason.as_deref().or_else(|| usual_reason(self.code)) {
            status["reason"] = reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        status
    }
}

/// The reason that the real server most often gives with a code.
fn usual_reason(code: StatusCode) -> Option<&'static str> {
    Some(match code.as_u16() {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        406 => "NotAcceptable",
        409 => "Conflict",
        410 => "Expired",
        413 => "RequestEntityTooLarge",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => return None,
    })
}
