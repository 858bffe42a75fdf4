//! What goes wrong.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

/// One thing that goes wrong with a request.
///
/// The actions of a rule are carried out in their order. `Status`, `Hang`, `Reset` and `Expired` end it there;
/// the others let the request through and spoil its answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Answers with a status; the request is not let through.
    Status(Box<StatusFault>),
    /// Lets the request through after this time.
    Delay(Duration),
    /// Lets the request through at once and its answer only after this time.
    DelayAnswer(Duration),
    /// Never answers; the request is not let through.
    Hang,
    /// Closes the connection instead of answering; the request is not let through.
    Reset,
    /// Lets the request through and closes the connection instead of answering: a write is applied and its
    /// sender cannot know.
    LostAnswer,
    /// Answers 410 Expired as an HTTP status.
    Expired,
    /// Spoils the answer's body.
    Stream(StreamFault),
}

/// An answer made up by a rule: by default a Kubernetes `Status` object, or any body.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusFault {
    /// The HTTP status code.
    pub code: StatusCode,
    /// The machine-readable reason; by default the one that belongs to the code.
    pub reason: Option<String>,
    /// The sentence for people; by default one that says that a rule made it up.
    pub message: Option<String>,
    /// The `details` of the Status object.
    pub details: Option<Value>,
    /// Further headers.
    pub headers: HeaderMap,
    /// A raw body instead of the Status object, for gateways that answer HTML and for broken servers.
    pub body: Option<Bytes>,
    /// The content type; by default `application/json`.
    pub content_type: Option<HeaderValue>,
}

/// Something wrong with a body. Bodies are counted in lines: in a watch one line is one event (bookmarks
/// included), a list is one line. Only answers of 2xx are spoilt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamFault {
    /// Ends the body early.
    Cut(Cut),
    /// Lets this many lines pass, then the first half of the next, then ends as if all were well.
    Truncate {
        /// How many whole lines come before.
        after_events: u64,
    },
    /// Lets this many lines pass, then an `ERROR` event with 410 Expired, then ends: expired history inside
    /// a stream of status 200.
    Expired {
        /// How many whole lines come before.
        after_events: u64,
    },
    /// Lets this many lines pass, then nothing more ever; the connection stays open.
    HalfOpen {
        /// How many whole lines come before.
        after_events: u64,
    },
    /// Lets this many lines pass, replaces the next by `line` and goes on.
    Malformed {
        /// How many whole lines come before.
        after_events: u64,
        /// What stands in place of the line, without its newline.
        line: String,
    },
}

/// When and how a body ends early. Of the two limits the one reached first counts; with none the body ends
/// before its first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Ends after this many whole lines.
    pub after_events: Option<u64>,
    /// Ends this long after the answer's headers.
    pub after: Option<Duration>,
    /// How it ends.
    pub how: Ending,
}

/// How a body that is cut ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// As if the server had nothing more to say.
    #[default]
    Clean,
    /// With a reset connection.
    Reset,
}

// === impl Action ===

impl Action {
    /// An answer with this code and a `Status` body.
    ///
    /// # Panics
    ///
    /// If `code` is no HTTP status code.
    #[must_use]
    pub fn status(code: u16) -> StatusFault {
        StatusFault::new(
            StatusCode::from_u16(code).expect("invariant: the caller names a code from 100 to 999"),
        )
    }

    /// A body that ends after `events` lines.
    #[must_use]
    pub fn cut_after_events(events: u64) -> Cut {
        Cut {
            after_events: Some(events),
            ..Cut::default()
        }
    }

    /// A body that ends after `time`.
    #[must_use]
    pub fn cut_after(time: Duration) -> Cut {
        Cut {
            after: Some(time),
            ..Cut::default()
        }
    }

    /// See [`StreamFault::Truncate`].
    #[must_use]
    pub const fn truncate_after_events(after_events: u64) -> Self {
        Self::Stream(StreamFault::Truncate { after_events })
    }

    /// See [`StreamFault::Expired`].
    #[must_use]
    pub const fn expired_in_stream(after_events: u64) -> Self {
        Self::Stream(StreamFault::Expired { after_events })
    }

    /// See [`StreamFault::HalfOpen`].
    #[must_use]
    pub const fn half_open_after_events(after_events: u64) -> Self {
        Self::Stream(StreamFault::HalfOpen { after_events })
    }

    /// See [`StreamFault::Malformed`].
    #[must_use]
    pub fn malformed(after_events: u64, line: impl Into<String>) -> Self {
        Self::Stream(StreamFault::Malformed {
            after_events,
            line: line.into(),
        })
    }
}

impl From<StatusFault> for Action {
    fn from(status: StatusFault) -> Self {
        Self::Status(Box::new(status))
    }
}

impl From<StreamFault> for Action {
    fn from(fault: StreamFault) -> Self {
        Self::Stream(fault)
    }
}

impl From<Cut> for Action {
    fn from(cut: Cut) -> Self {
        Self::Stream(StreamFault::Cut(cut))
    }
}

// === impl StatusFault ===

impl StatusFault {
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
        for (name, value) in &self.headers {
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

// === impl Cut ===

impl Cut {
    /// Ends with a reset connection instead of cleanly.
    #[must_use]
    pub const fn with_reset(mut self) -> Self {
        self.how = Ending::Reset;
        self
    }
}
