use std::io;

use crate::error::{Exit, Report};

/// Why a command ended without having done its work.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Something that a person can act on.
    Explained(Report),
    /// stdout takes no more: a full disk. A closed pipe is none, see
    /// [`Io::data`](crate::out::Io::data).
    Output(io::Error),
}

// === impl Failed ===

impl Failed {
    /// What to print.
    pub(crate) fn into_report(self) -> Report {
        match self {
            Self::Explained(report) => report,
            Self::Output(error) => Report::error(
                Exit::Internal,
                format_args!("cannot write to stdout: {error}"),
            ),
        }
    }
}

impl From<Report> for Failed {
    fn from(report: Report) -> Self {
        Self::Explained(report)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
