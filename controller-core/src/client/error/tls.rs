use rustls::{AlertDescription, CertificateError, Error};

/// Why a TLS handshake failed, as far as a person can act on it.
///
/// Each text continues "no secure connection to the server …: ". What helps:
///
/// | failure | look at |
/// |---|---|
/// | `UnknownIssuer` | `certificate-authority`: missing, or of another cluster |
/// | `NameMismatch` | the address, or `tls-server-name` |
/// | `Expired`, `NotYetValid` | the server's certificate, and this machine's clock |
/// | `ClientCertificate` | `client-certificate`: expired, or of another cluster |
/// | `NotTls` | `https` in the address where the port speaks `http` |
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The certificate's chain ends at nobody whom the client trusts.
    #[error("its certificate is issued by an unknown authority")]
    UnknownIssuer,

    /// The certificate is for other names.
    #[error("its certificate is not valid for {expected}{}", valid_for(.presented))]
    NameMismatch {
        /// The name that was dialled.
        expected: String,
        /// The names in the certificate, empty when they are not known.
        presented: Vec<String>,
    },

    /// The certificate's time is over.
    #[error("its certificate has expired{}", since(.not_after))]
    Expired {
        /// Seconds since 1970.
        not_after: Option<u64>,
    },

    /// The certificate's time has not begun: often the clock of this machine.
    #[error("its certificate is not valid yet")]
    NotYetValid,

    /// The server does not accept our certificate, or wants one.
    #[error("the server refused the client certificate ({0})")]
    ClientCertificate(String),

    /// The other side does not speak TLS: a plain HTTP port.
    #[error("the server does not speak TLS at this port")]
    NotTls,

    /// Anything else, in the words of the TLS library.
    #[error("{0}")]
    Other(String),
}

// === impl TlsFailure ===

impl From<&Error> for TlsFailure {
    fn from(error: &Error) -> Self {
        match error {
            Error::InvalidCertificate(why) => certificate(why),
            Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => Self::NotTls,
            Error::AlertReceived(
                alert @ (AlertDescription::AccessDenied
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateRequired
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateUnknown
                // The right authority's name, but another key: it was made anew.
                | AlertDescription::DecryptError
                | AlertDescription::UnknownCA
                | AlertDescription::UnsupportedCertificate),
            ) => Self::ClientCertificate(format!("{alert:?}")),
            other => Self::Other(other.to_string()),
        }
    }
}

/// What is wrong with the server's certificate.
fn certificate(why: &CertificateError) -> TlsFailure {
    match why {
        // A bad signature is an authority of the right name with another key: the
        // cluster was made anew and the kubeconfig is the old one's.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            TlsFailure::UnknownIssuer
        }
        CertificateError::NotValidForName => TlsFailure::NameMismatch {
            expected: "the name that was dialled".into(),
            presented: Vec::new(),
        },
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => TlsFailure::NameMismatch {
            expected: expected.to_str().into_owned(),
            presented: presented.iter().map(|name| plain(name)).collect(),
        },
        CertificateError::Expired => TlsFailure::Expired { not_after: None },
        CertificateError::ExpiredContext { not_after, .. } => TlsFailure::Expired {
            not_after: Some(not_after.as_secs()),
        },
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            TlsFailure::NotYetValid
        }
        other => TlsFailure::Other(Error::InvalidCertificate(other.clone()).to_string()),
    }
}

/// `DnsName("a.example")` and `IpAddress(127.0.0.1)`, as the TLS library writes them,
/// to what stands in the certificate.
fn plain(name: &str) -> String {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'))
        .unwrap_or(name);
    inner.trim_matches('"').to_owned()
}

fn valid_for(presented: &[String]) -> String {
    if presented.is_empty() {
        String::new()
    } else {
        format!(", only for {}", presented.join(", "))
    }
}

fn since(not_after: &Option<u64>) -> String {
    not_after
        .and_then(|seconds| i64::try_from(seconds).ok())
        .and_then(|seconds| k8s_openapi::jiff::Timestamp::from_second(seconds).ok())
        .map_or_else(String::new, |time| format!(" at {time}"))
}
