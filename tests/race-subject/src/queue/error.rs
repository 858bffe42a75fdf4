use std::io;

/// Why there is no sample.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueueError {
    /// No case has this name.
    #[error("there is no case {0}")]
    UnknownCase(String),
    /// The queue lost a key, or served one too often: a time would be worth nothing.
    #[error("{what}: {actual} instead of {expected}")]
    Checksum {
        /// What was counted.
        what: &'static str,
        /// What it had to be.
        expected: u64,
        /// What it was.
        actual: u64,
    },
    /// A task ended without a result.
    #[error("a task of the case failed")]
    Task(#[source] tokio::task::JoinError),
    /// The system does not say how much memory is in use.
    #[error("cannot read the resident set")]
    Resident(#[source] io::Error),
}

/// Fails unless a count is what it has to be.
pub(super) fn expect(what: &'static str, actual: u64, expected: u64) -> Result<(), QueueError> {
    if actual == expected {
        return Ok(());
    }
    Err(QueueError::Checksum {
        what,
        expected,
        actual,
    })
}
