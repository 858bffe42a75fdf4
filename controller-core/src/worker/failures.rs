use std::any::Any;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a call failed without an answer of the reconciler.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("panicked: {0}")]
    Panicked(String),
    #[error("took longer than {0:?}")]
    DeadlineExceeded(Duration),
}

/// An error and its sources, each once, joined by colons.
pub(super) struct Chain<'a>(pub(super) &'a dyn Error);

// === impl CallError ===

impl CallError {
    /// The text that `panic!` was given.
    pub(super) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panicked(text.unwrap_or("a payload that is no text").to_owned())
    }
}

// === impl Chain ===

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(source) = next {
            write!(f, ": {source}")?;
            next = source.source();
        }
        Ok(())
    }
}
