use std::io;

use tokio::time::Duration;

use super::{Answer, TlsFailure};

/// Why a request brought no usable answer, sorted by what a person can do about it.
///
/// | variants | what to do |
/// |---|---|
/// | `Refused`, `Dns`, `Unreachable`, `ConnectTimeout` | look at the address; is the server up? |
/// | `Tls` | look at the certificates, see [`TlsFailure`] |
/// | `Proxy` | look at the proxy's address and password |
/// | `Unauthorized`, `Credentials` | log in again |
/// | `Forbidden` | grant the verb on the target; both are in the [`Answer`] |
/// | `NotFound`, `Gone`, `Conflict`, `AlreadyExists` | read again, decide again |
/// | `Invalid` | change what is sent |
/// | `TooManyRequests`, `Server`, `Timeout`, `Disconnected` | try later |
/// | `Malformed` | is this an API server? |
///
/// Where the server answered, the text is the server's own sentence. Everywhere else it
/// is a fragment that starts in lower case and does not repeat its
/// [`source`](std::error::Error::source). Neither holds any part of a response's payload.
///
/// The dangerous mistake is to take every error of a write for "not written": ask
/// [`ApiError::answer_lost`].
///
/// ```
/// use controller_core::client::{Answer, ApiError, Target, Verb};
///
/// /// What to do after a guarded write that failed.
/// fn next(error: &ApiError) -> &'static str {
///     match error {
///         ApiError::Conflict(_) => "it changed: read it, decide again",
///         error if error.answer_lost() => "perhaps written: read it, compare",
///         ApiError::NotFound(answer) if answer.from_api => "it is gone: nothing to do",
///         _ => "not written: tell, and try later",
///     }
/// }
///
/// let status = serde_json::from_str(r#"{"status": "Failure", "code": 409,
///     "reason": "Conflict", "message": "the object has been modified"}"#)?;
/// let target = Target { resource: "pods".into(), ..Target::default() };
/// let error = ApiError::from(Answer::from_status(Verb::Patch, target, status));
/// assert_eq!(next(&error), "it changed: read it, decide again");
/// assert_eq!(error.to_string(), "the object has been modified");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Note `from_api` above. A gateway in front of a server that is restarting answers 404 for
/// everything; a controller that takes that for "the object is gone" cleans up behind
/// objects that are alive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// Nothing listens at the address.
    #[error("the connection to the server {server} was refused")]
    Refused {
        /// `host:port`.
        server: String,
    },

    /// The host name has no address.
    #[error("no address found for the host name {host:?}")]
    Dns {
        /// The name, without the port.
        host: String,
        /// The resolver's answer.
        source: io::Error,
    },

    /// The TLS handshake failed.
    #[error("no secure connection to the server {server}")]
    Tls {
        /// `host:port`.
        server: String,
        /// What was wrong.
        #[source]
        why: TlsFailure,
    },

    /// The connection could not be made for another reason: no route, no descriptors.
    #[error("no connection to the server {server}")]
    Unreachable {
        /// `host:port`.
        server: String,
        /// The operating system's answer.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// The address swallows packets, or the handshake hangs.
    #[error("no connection to the server {server} after {after:?}")]
    ConnectTimeout {
        /// `host:port`.
        server: String,
        /// How long was waited.
        after: Duration,
    },

    /// The proxy between us and the server is the problem.
    #[error("the proxy {proxy} does not connect to the server: {why}")]
    Proxy {
        /// `host:port`, never the credentials.
        proxy: String,
        /// What it said or did.
        why: String,
    },

    /// 401: the credentials are missing, wrong or out of date.
    #[error("{0}")]
    Unauthorized(Box<Answer>),

    /// 403: the answer's verb and target name the rule that is missing.
    #[error("{0}")]
    Forbidden(Box<Answer>),

    /// 404: no such object, or ([`ApiError::is_unserved`]) no such API.
    #[error("{0}")]
    NotFound(Box<Answer>),

    /// 409 for a create whose name is taken.
    #[error("{0}")]
    AlreadyExists(Box<Answer>),

    /// 409: the object changed since it was read, or its uid is another. Nothing was
    /// written.
    #[error("{0}")]
    Conflict(Box<Answer>),

    /// 410: the resourceVersion or the continue token is too old. List again from the
    /// start.
    #[error("{0}")]
    Gone(Box<Answer>),

    /// 422: the server read the object and does not accept it.
    #[error("{0}")]
    Invalid(Box<Answer>),

    /// 429 that outlasted the client's retries.
    #[error("{0}")]
    TooManyRequests(Box<Answer>),

    /// Any other answer outside 2xx.
    #[error("{0}")]
    Server(Box<Answer>),

    /// The deadline of the request passed.
    #[error("timed out after {after:?} waiting for {request}")]
    Timeout {
        /// Method and path.
        request: String,
        /// The deadline.
        after: Duration,
    },

    /// The answer is not what was asked for. Says where, never what stood there.
    #[error("the answer to {request} cannot be read: {problem} at line {line} column {column}")]
    Malformed {
        /// Method and path.
        request: String,
        /// `not JSON`, `cut short` or `unexpected content`.
        problem: &'static str,
        /// 1-based; 0 when the answer ended before the first character.
        line: usize,
        /// 1-based, in bytes.
        column: usize,
    },

    /// The connection broke before the answer was complete.
    #[error("the connection was lost during {request}")]
    Disconnected {
        /// Method and path.
        request: String,
        /// Whether the request may have reached the server.
        sent: bool,
        /// What the connection died of.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// The credential helper, token file or identity provider failed while running.
    #[error("no credentials for {request}: {problem}")]
    Credentials {
        /// Method and path.
        request: String,
        /// What failed; never a token.
        problem: String,
    },

    /// The request could not even be put together: a name that no URL can hold.
    #[error("cannot send {request}")]
    Unsendable {
        /// Method and path.
        request: String,
        /// What is wrong with it.
        source: http::Error,
    },

    /// Anything else: a bug here, or a layer of the embedder's own.
    #[error("{request} failed")]
    Other {
        /// Method and path.
        request: String,
        /// The layer's error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

// === impl ApiError ===

impl ApiError {
    /// The server's answer, where there was one.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Unauthorized(answer)
            | Self::Forbidden(answer)
            | Self::NotFound(answer)
            | Self::AlreadyExists(answer)
            | Self::Conflict(answer)
            | Self::Gone(answer)
            | Self::Invalid(answer)
            | Self::TooManyRequests(answer)
            | Self::Server(answer) => Some(answer),
            Self::Refused { .. }
            | Self::Dns { .. }
            | Self::Tls { .. }
            | Self::Unreachable { .. }
            | Self::ConnectTimeout { .. }
            | Self::Proxy { .. }
            | Self::Timeout { .. }
            | Self::Malformed { .. }
            | Self::Disconnected { .. }
            | Self::Credentials { .. }
            | Self::Unsendable { .. }
            | Self::Other { .. } => None,
        }
    }

    /// The HTTP status of the server's answer; `None` when there was no answer.
    pub fn code(&self) -> Option<u16> {
        self.answer().map(|answer| answer.code)
    }

    /// The server's own sentence.
    pub fn status_message(&self) -> Option<&str> {
        self.answer().map(|answer| answer.message.as_str())
    }

    /// How long the server asked to wait before the next try.
    pub fn retry_after(&self) -> Option<Duration> {
        self.answer().and_then(|answer| answer.retry_after)
    }

    /// 409: the object changed since it was read.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }

    /// 404, of an object or of an API.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound(_))
    }

    /// 404 because the server does not serve that group, version or resource at all: its
    /// answer names no object, or is not the API's own.
    pub fn is_unserved(&self) -> bool {
        let Self::NotFound(answer) = self else {
            return false;
        };
        let names_object = answer
            .details
            .as_ref()
            .is_some_and(|details| !details.name.is_empty());
        !answer.from_api || !names_object
    }

    /// 410: list again.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone(_))
    }

    /// 401.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self, Self::Unauthorized(_))
    }

    /// 403.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Forbidden(_))
    }

    /// Whether a write may have been applied although this says that it failed: the
    /// answer was lost, late or unreadable, or a gateway gave up waiting for it. Read
    /// the object live before doing anything else.
    ///
    /// A plain 500 does not count: nearly all of them are a webhook's. But one from a storage
    /// that answered too late may still have been stored, so read live after it too: only if
    /// the object has the version that was guarded, nothing was written.
    ///
    /// A write with a precondition may also simply be sent again: if the first one was
    /// applied the second is refused with 409, since the version has moved on. What tells
    /// the two apart is then one GET.
    pub fn answer_lost(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::Malformed { .. } => true,
            Self::Disconnected { sent, .. } => *sent,
            Self::Server(answer) => matches!(answer.code, 502 | 504),
            _ => false,
        }
    }
}
