use std::error::Error;
use std::fmt::Write;
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
    /// what went wrong with each of its causes.
    pub fn message(&self) -> String {
        let mut message = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            // Writing to a String cannot fail.
            let _ = write!(message, ": {error}");
            cause = error.source();
        }
        message
    }

    /// The HTTP status behind it, if the server answered with one.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Api(error) => error.code(),
            Self::Kept { .. } => None,
            Self::Conflicts { .. } => Some(409),
        }
    }

    /// The error of the request behind it: its verb and target name what was refused.
    pub fn api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            Self::Kept { .. } | Self::Conflicts { .. } => None,
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Api(Arc::new(error))
    }
}
