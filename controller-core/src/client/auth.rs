//! Who the client is: the `Authorization` header of every request.
//!
//! | the user has | who sends it | when it is renewed |
//! |---|---|---|
//! | `auth-provider: oidc` | kube | before it expires |
//! | `username`, `password` | kube | never |
//! | `token` | kube | never |
//! | `tokenFile`, a pod's service account | `token_file.rs` | every minute |
//! | `exec` that gives a token | kube | a minute before it expires |
//! | `exec` or fields with a certificate | the TLS handshake | never |
//!
//! The first row that applies counts, as in client-go. One more try with fresh
//! credentials after a 401 is not there yet; its place is above this layer.
use kube::client::AuthError;
use kube::client::ConfigExt;
use kube::client::middleware::AuthLayer;
use tower::Layer;
use tower::util::Either;

use super::config::{ConfigError, Loaded};
use super::error::credential_problem;
use super::token_file::{TokenFile, TokenFileLayer};

/// How requests are authenticated, and the configuration that TLS is to be set up from.
pub(super) struct Credentials {
    pub(super) layer: CredentialLayer,
    pub(super) tls: kube::Config,
}

/// kube's layer for everything but token files, which it does not trim.
pub(super) enum CredentialLayer {
    /// Nothing to add: anonymous, or a client certificate.
    None,
    Kube(Box<AuthLayer>),
    TokenFile(TokenFileLayer),
}

// === impl Credentials ===

impl Credentials {
    /// Gets what the user of `loaded` authenticates with. Runs the credential helper
    /// where there is one, and waits for it: a person may have to log in.
    pub(super) fn of(loaded: &Loaded) -> Result<Self, ConfigError> {
        let mut tls = loaded.config.clone();
        let user = &loaded.config.auth_info;
        let token_file = user.token_file.as_ref().filter(|_| {
            user.token.is_none() && user.username.is_none() && user.auth_provider.is_none()
        });
        if let Some(path) = token_file {
            let file = TokenFile::open(path.into()).map_err(|error| ConfigError::Credentials {
                user: loaded.user_name().to_owned(),
                problem: error.to_string(),
            })?;
            return Ok(Self {
                layer: CredentialLayer::TokenFile(file.layer()),
                tls,
            });
        }
        let layer = loaded
            .config
            .auth_layer()
            .map_err(|error| problem(loaded, &error))?;
        Ok(match layer {
            Some(layer) => {
                // Whoever gave a token is not asked for a certificate too: kube would
                // run the helper once more to find out.
                tls.auth_info.exec = None;
                tls.auth_info.auth_provider = None;
                Self {
                    layer: CredentialLayer::Kube(Box::new(layer)),
                    tls,
                }
            }
            None => Self {
                layer: CredentialLayer::None,
                tls,
            },
        })
    }
}

/// What a person needs of kube's error, which would print the helper's whole output.
fn problem(loaded: &Loaded, error: &kube::Error) -> ConfigError {
    let user = loaded.user_name().to_owned();
    let exec = loaded.config.auth_info.exec.as_ref();
    let command = exec
        .and_then(|exec| exec.command.clone())
        .unwrap_or_default();
    match error {
        kube::Error::Auth(AuthError::AuthExecStart(error))
            if error.kind() == std::io::ErrorKind::NotFound =>
        {
            ConfigError::CredentialHelperNotFound {
                command,
                user,
                install_hint: exec
                    .and_then(|exec| exec.install_hint.as_deref())
                    .map(|hint| harmless(hint.trim_end())),
            }
        }
        kube::Error::Auth(AuthError::AuthExecRun { out, .. }) => {
            ConfigError::CredentialHelperFailed {
                command,
                user,
                exit_code: out.status.code(),
                // Never its standard output, where a token may be.
                stderr: harmless(String::from_utf8_lossy(&out.stderr).trim_end()),
            }
        }
        kube::Error::Auth(error) => ConfigError::Credentials {
            user,
            problem: credential_problem(error),
        },
        other => ConfigError::Credentials {
            user,
            problem: other.to_string(),
        },
    }
}

/// Text from a file or program, with nothing in it that moves a terminal's cursor.
fn harmless(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' && c != '\t' {
            clean.push_str(&format!("U+{:04X}", u32::from(c)));
        } else {
            clean.push(c);
        }
    }
    clean
}

// === impl CredentialLayer ===

impl<S: Clone> Layer<S> for CredentialLayer {
    type Service =
        Either<S, Either<<AuthLayer as Layer<S>>::Service, <TokenFileLayer as Layer<S>>::Service>>;

    fn layer(&self, inner: S) -> Self::Service {
        match self {
            Self::None => Either::Left(inner),
            Self::Kube(layer) => Either::Right(Either::Left(layer.layer(inner))),
            Self::TokenFile(layer) => Either::Right(Either::Right(layer.layer(inner))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KC-26.
    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[31mred\tb\nc"), "aU+001B[31mred\tb\nc");
    }
}
