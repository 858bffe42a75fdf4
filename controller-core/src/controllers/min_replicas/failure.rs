use std::error::Error;
use std::sync::Arc;

use crate::client::ApiError;

/// Why an object that should have been raised, or looked at, was not.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The server refuses, or does not answer.
    #[error(transparent)]
    Api(Arc<ApiError>),

    /// The server said yes and stored another number: something in it, a mutating
    /// webhook for example, decides otherwise.
    #[error("the server kept {kept} although {asked} was asked")]
    Kept {
        /// What it stored.
        kept: i32,
        /// What it was asked to store.
        asked: i32,
    },

    /// The minimum is above the autoscaler's maximum. Nothing was tried: the server would
    /// refuse it, and only somebody who changes one of the two can help.
    #[error("HPA allows at most {max}, minimum is {min}")]
    MinAboveMax {
        /// `spec.maxReplicas`.
        max: i32,
        /// The minimum.
        min: i32,
    },

    /// The object changed under every try to write.
    #[error("it changed during each of {tries} tries")]
    Conflicts {
        /// How many writes were answered 409.
        tries: u32,
    },
}

// === impl Failure ===

impl Failure {
    /// The whole story in one line: the server's own sentence where it gave one, else
    /// what went wrong, and what that stems from in the end. What HTTP libraries put in
    /// between ("client error (SendRequest)") is left out.
    pub fn message(&self) -> String {
        match root(self) {
            Some(root) => format!("{self}: {root}"),
            None => self.to_string(),
        }
    }

    /// The HTTP status behind it, if the server answered with one.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Api(error) => error.code(),
            Self::Kept { .. } | Self::MinAboveMax { .. } => None,
            Self::Conflicts { .. } => Some(409),
        }
    }

    /// What went wrong in one word, out of a fixed set: for a metric, whose labels must not
    /// come from a server's answer.
    pub fn token(&self) -> &'static str {
        match self {
            Self::Api(error) => token_of(error),
            Self::Kept { .. } => "ChangedByServer",
            Self::MinAboveMax { .. } => "MinAboveMax",
            Self::Conflicts { .. } => "Conflict",
        }
    }

    /// Whether trying again is of no use until the object, or its autoscaler, changes.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::MinAboveMax { .. })
    }

    /// The error of the request behind it: its verb and target name what was refused.
    pub fn api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            Self::Kept { .. } | Self::MinAboveMax { .. } | Self::Conflicts { .. } => None,
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Api(Arc::new(error))
    }
}

fn token_of(error: &ApiError) -> &'static str {
    match error {
        ApiError::Unauthorized(_) => "Unauthorized",
        ApiError::Forbidden(_) => "Forbidden",
        ApiError::NotFound(_) => "NotFound",
        ApiError::Conflict(_) | ApiError::AlreadyExists(_) => "Conflict",
        ApiError::Invalid(_) => "Invalid",
        ApiError::TooManyRequests(_) => "TooManyRequests",
        ApiError::Server(_) | ApiError::Gone(_) => "Server",
        ApiError::Timeout { .. } | ApiError::ConnectTimeout { .. } => "Timeout",
        ApiError::Disconnected { .. } => "Disconnected",
        ApiError::Malformed { .. } => "Malformed",
        ApiError::Credentials { .. } => "Credentials",
        ApiError::Tls { .. } => "TLS",
        ApiError::Refused { .. }
        | ApiError::Dns { .. }
        | ApiError::Unreachable { .. }
        | ApiError::Proxy { .. } => "Unreachable",
        ApiError::Unsendable { .. } | ApiError::Other { .. } => "Unknown",
    }
}

/// The last of the causes of `error`.
fn root(error: &dyn Error) -> Option<&dyn Error> {
    std::iter::successors(error.source(), |&cause| cause.source()).last()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// As hyper reports a connection that was reset.
    #[derive(Debug, thiserror::Error)]
    #[error("client error (SendRequest)")]
    struct SendRequest(#[source] io::Error);

    #[test]
    fn a_message_names_what_went_wrong_and_its_root() {
        let lost = ApiError::Disconnected {
            request: "PATCH /scale".into(),
            sent: true,
            source: Box::new(SendRequest(io::Error::other("connection reset"))),
        };
        insta::assert_snapshot!(
            Failure::from(lost).message(),
            @"the connection was lost during PATCH /scale: connection reset"
        );
        let kept = Failure::Kept { kept: 1, asked: 2 };
        insta::assert_snapshot!(kept.message(), @"the server kept 1 although 2 was asked");
    }
}
