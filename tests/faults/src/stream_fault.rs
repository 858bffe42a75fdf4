//! What goes wrong with a body.

use std::time::Duration;

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

// === impl StreamFault ===

impl StreamFault {
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Cut(_) => "cut",
            Self::Truncate { .. } => "truncate",
            Self::Expired { .. } => "expired",
            Self::HalfOpen { .. } => "half_open",
            Self::Malformed { .. } => "malformed",
        }
    }
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
