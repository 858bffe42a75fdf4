use std::error::Error as StdError;
use std::io;

use kube::client::AuthError;
use tokio::time::Duration;

use super::{ApiError, TlsFailure};

type BoxError = Box<dyn StdError + Send + Sync>;

/// No connection to `server`: put around what the connector says, which names at most an
/// address.
#[derive(Debug, thiserror::Error)]
#[error("no connection to {server}")]
pub(in crate::client) struct Unreachable {
    pub(in crate::client) server: String,
    #[source]
    pub(in crate::client) source: BoxError,
}

/// The resolver knows no address for `host`.
#[derive(Debug, thiserror::Error)]
#[error("no address for {host}")]
pub(in crate::client) struct DnsFailure {
    pub(in crate::client) host: String,
    #[source]
    pub(in crate::client) source: io::Error,
}

/// Something went wrong on the way through a proxy.
#[derive(Debug, thiserror::Error)]
#[error("the proxy {proxy} failed")]
pub(in crate::client) struct ViaProxy {
    pub(in crate::client) proxy: String,
    #[source]
    pub(in crate::client) source: BoxError,
}

/// TCP, proxy and TLS together took longer than allowed.
#[derive(Debug, thiserror::Error)]
#[error("no connection after {after:?}")]
pub(in crate::client) struct ConnectDeadline {
    pub(in crate::client) after: Duration,
}

/// The deadline layer gave up on the answer's head or body.
#[derive(Debug, thiserror::Error)]
#[error("no answer after {after:?}")]
pub(in crate::client) struct DeadlineExceeded {
    pub(in crate::client) after: Duration,
}

/// An error and all that it stems from, the outermost first.
///
/// A refused handshake arrives like this, and what a person needs is its last line:
///
/// ```text
/// kube::Error::Service
/// └ Unreachable { server }                  ours, from the pool
///   └ hyper_util Error(Connect)
///     └ io::Error(Other)                    hyper-rustls
///       ┊ io::Error(InvalidData)            only by get_ref()
///       ┊ rustls::Error::InvalidCertificate only by get_ref()
/// ```
///
/// `source()` of an `io::Error` skips the error that it wraps and goes on with that
/// one's source. hyper-rustls wraps twice, so that a plain walk never meets the
/// `rustls::Error`: the payload has to be asked for by `get_ref`.
struct Chain<'a>(Option<&'a (dyn StdError + 'static)>);

// === impl Chain ===

impl<'a> Iterator for Chain<'a> {
    type Item = &'a (dyn StdError + 'static);

    fn next(&mut self) -> Option<Self::Item> {
        let current = self.0?;
        self.0 = match current.downcast_ref::<io::Error>() {
            Some(error) => error
                .get_ref()
                .map(|inner| inner as &(dyn StdError + 'static))
                .or_else(|| error.source()),
            None => current.source(),
        };
        Some(current)
    }
}

impl<'a> Chain<'a> {
    fn of(error: &'a (dyn StdError + Send + Sync + 'static)) -> Self {
        Self(Some(error))
    }

    fn find<E: StdError + 'static>(
        error: &'a (dyn StdError + Send + Sync + 'static),
    ) -> Option<&'a E> {
        Self::of(error).find_map(|link| link.downcast_ref::<E>())
    }
}

// === impl ApiError ===

impl ApiError {
    /// Classifies a failure to get the answer's head.
    ///
    /// The order matters: our own markers first, because they say what is known for
    /// certain. Whether the request was sent is decided last, and in doubt it was.
    pub(crate) fn from_transport(request: &str, error: BoxError) -> Self {
        let request = request.to_owned();
        if let Some(deadline) = Chain::find::<DeadlineExceeded>(&*error) {
            let after = deadline.after;
            return Self::Timeout { request, after };
        }
        if let Some(problem) = Chain::find::<AuthError>(&*error) {
            let problem = credential_problem(problem);
            return Self::Credentials { request, problem };
        }
        if let Some(unreachable) = Chain::find::<Unreachable>(&*error) {
            let server = unreachable.server.clone();
            return Self::from_connect(server, error);
        }
        match Chain::find::<hyper_util::client::legacy::Error>(&*error) {
            Some(legacy) if legacy.is_connect() => {
                // Only a client that was not built here: it has no address to name.
                Self::from_connect("of this client".into(), error)
            }
            Some(_) => {
                // Cancelled means that the connection was closed before it took the
                // request.
                let sent =
                    !Chain::find::<hyper::Error>(&*error).is_some_and(hyper::Error::is_canceled);
                Self::disconnected(request, sent, error)
            }
            None if is_broken(&*error) => Self::disconnected(request, true, error),
            None => Self::Other {
                request,
                source: error,
            },
        }
    }

    /// Classifies a failure in the middle of the body: the head has been there, so the
    /// request has.
    pub(crate) fn from_body(request: &str, error: BoxError) -> Self {
        let request = request.to_owned();
        if let Some(deadline) = Chain::find::<DeadlineExceeded>(&*error) {
            let after = deadline.after;
            return Self::Timeout { request, after };
        }
        Self::disconnected(request, true, error)
    }

    pub(crate) fn malformed(request: &str, error: &serde_json::Error) -> Self {
        use serde_json::error::Category;
        // Not the error itself: `invalid type: string "hunter2"` quotes the payload.
        Self::Malformed {
            request: request.to_owned(),
            problem: match error.classify() {
                Category::Eof => "cut short",
                Category::Syntax => "not JSON",
                Category::Data | Category::Io => "unexpected content",
            },
            line: error.line(),
            column: error.column(),
        }
    }

    fn disconnected(request: String, sent: bool, source: BoxError) -> Self {
        Self::Disconnected {
            request,
            sent,
            source,
        }
    }

    fn from_connect(server: String, error: BoxError) -> Self {
        if let Some(deadline) = Chain::find::<ConnectDeadline>(&*error) {
            let after = deadline.after;
            return Self::ConnectTimeout { server, after };
        }
        if let Some(via) = Chain::find::<ViaProxy>(&*error) {
            return Self::Proxy {
                proxy: via.proxy.clone(),
                why: proxy_problem(via),
            };
        }
        if let Some(dns) = Chain::find::<DnsFailure>(&*error) {
            return Self::Dns {
                host: dns.host.clone(),
                source: copy(&dns.source),
            };
        }
        if let Some(tls) = Chain::find::<rustls::Error>(&*error) {
            let why = TlsFailure::from(tls);
            return Self::Tls { server, why };
        }
        let refused =
            Chain::of(&*error).any(|link| io_kind(link) == Some(io::ErrorKind::ConnectionRefused));
        if refused {
            return Self::Refused { server };
        }
        Self::Unreachable {
            server,
            source: error,
        }
    }
}

/// Why the proxy does not help, in words: there are few cases and one cure, to look at
/// the proxy's address, name and password.
fn proxy_problem(via: &ViaProxy) -> String {
    let links = || Chain::of(via).skip(1);
    if let Some(tls) = links().find_map(|link| link.downcast_ref::<rustls::Error>()) {
        return TlsFailure::from(tls).to_string();
    }
    if let Some(dns) = links().find_map(|link| link.downcast_ref::<DnsFailure>()) {
        return format!("no address found for {:?}", dns.host);
    }
    if links().any(|link| io_kind(link) == Some(io::ErrorKind::ConnectionRefused)) {
        return "connection refused".into();
    }
    // hyper-util does not export the type, so its text has to do; a test pins it.
    let text = via.source.to_string();
    match text.strip_prefix("tunnel error: ") {
        Some("proxy authorization required") => {
            "407 Proxy Authentication Required (its user name or password is missing or wrong)"
                .into()
        }
        Some("unsuccessful") => "it refuses to open a tunnel".into(),
        Some(other) => other.to_owned(),
        None => text,
    }
}

/// Whether the other side ended the connection with a TLS alert.
pub(in crate::client) fn refused_by_alert(error: &(dyn StdError + Send + Sync + 'static)) -> bool {
    matches!(
        Chain::find::<rustls::Error>(error),
        Some(rustls::Error::AlertReceived(_))
    )
}

/// Says what failed without the failed command's output: it may be a token.
pub(in crate::client) fn credential_problem(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => match out.status.code() {
            Some(code) => format!("the credential helper failed with exit code {code}"),
            None => "the credential helper was ended by a signal".into(),
        },
        AuthError::AuthExecStart(error) => format!("the credential helper cannot be run: {error}"),
        AuthError::AuthExecParse(_) => "the credential helper's output cannot be read".into(),
        AuthError::InvalidBearerToken(_) | AuthError::InvalidBasicAuth(_) => {
            "the credentials hold characters that no header can carry".into()
        }
        AuthError::ParseTokenKey(_) => "the auth provider's output cannot be read".into(),
        other => other.to_string(),
    }
}

fn io_kind(link: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    link.downcast_ref::<io::Error>().map(io::Error::kind)
}

/// Whether the connection was there and went away, so that another one may do.
pub(in crate::client) fn connection_lost(error: &(dyn StdError + Send + Sync + 'static)) -> bool {
    Chain::find::<Unreachable>(error).is_none()
        && Chain::find::<DeadlineExceeded>(error).is_none()
        && (is_broken(error)
            || Chain::find::<hyper::Error>(error).is_some_and(hyper::Error::is_canceled))
}

/// What operating systems and hyper call a connection that ended without being closed.
fn is_broken(error: &(dyn StdError + Send + Sync + 'static)) -> bool {
    Chain::of(error).any(|link| {
        matches!(
            io_kind(link),
            Some(
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::NotConnected
            )
        ) || link
            .downcast_ref::<hyper::Error>()
            .is_some_and(|error| error.is_incomplete_message() || error.is_body_write_aborted())
    })
}

/// `io::Error` cannot be cloned; its kind and text can.
fn copy(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}
