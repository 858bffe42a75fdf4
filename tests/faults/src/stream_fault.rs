//! What goes wrong with a body.

use std::time::Duration;

/// Something wrong with a body. Only answers of 2xx are spoilt.
///
/// Bodies are counted in lines: in a watch one line is one event or one bookmark, a list is one line. A last
/// line without a newline counts like any other. The lines that a fault itself adds or leaves out change no
/// count: what counts is what the server sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamFault {
    /// Ends the body early.
    Cut(Cut),
    /// Sends the first half of the next line, then ends as if all were well.
    Truncate(Place),
    /// Sends an `ERROR` event with 410 Expired, then ends: expired history inside a stream of status 200.
    Expired(Place),
    /// Nothing more ever; the connection stays open.
    HalfOpen(Place),
    /// Sends `line` in place of the next line and goes on.
    Malformed {
        /// Where.
        at: Place,
        /// What stands in place of the line, without its newline.
        line: String,
    },
    /// Sends the next line twice.
    Duplicated(Place),
    /// Lets the next two lines change places.
    ///
    /// The first waits for the second: if that does not come in time, or the body ends, the first is sent
    /// after all and nothing was reordered. Lines that `at` does not count pass meanwhile.
    Reordered {
        /// Where.
        at: Place,
        /// How long the first line waits for the second.
        within: Duration,
    },
    /// Makes the next line at least this long by whitespace after its opening brace: its content is the same.
    /// What is longer anyway, or no JSON object, passes as it is.
    Oversized {
        /// Where.
        at: Place,
        /// How long the line is made, newline not counted.
        bytes: usize,
    },
    /// Leaves the next lines out. What comes later goes on as if they had been sent, so that nothing in the
    /// stream tells that they are missing: a client that trusts it is wrong until its next list.
    Dropped {
        /// Where.
        at: Place,
        /// How many lines.
        lines: u64,
    },
    /// Puts `item` in place of one item of a list. A line without so many items passes as it is.
    SpoiltItem {
        /// How many items come before.
        after_items: usize,
        /// What stands in its place; it need not be JSON.
        item: String,
    },
    /// Sends no more than this many bytes in this time, from the beginning of the body to its end.
    Slow {
        /// How many bytes; at least 1.
        bytes: usize,
        /// In which time.
        every: Duration,
    },
}

/// After how many lines something happens to a body, and which lines count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// How many whole lines come before.
    pub after: u64,
    /// Which lines count, and which line "the next" is.
    pub of: Counted,
}

/// Which lines of a body count. A line that begins with `{"type":"BOOKMARK"` is a bookmark, as both the real
/// and the simulated server write it; every other line is an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Every line.
    #[default]
    Lines,
    /// Every line but bookmarks.
    Events,
    /// Bookmarks only.
    Bookmarks,
}

/// When and how a body ends early. Of the two limits the one reached first counts; with none the body ends
/// before its first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Ends after this many whole lines.
    pub after_events: Option<u64>,
    /// Which lines count.
    pub of: Counted,
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
    /// With a connection that is closed in the middle: FIN without the end of the answer, and over TLS
    /// without a `close_notify`.
    Torn,
}

// === impl StreamFault ===

impl StreamFault {
    /// How long the first of two reordered lines waits for the second if nothing else is said.
    pub const WITHIN: Duration = Duration::from_secs(1);

    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Cut(_) => "cut",
            Self::Truncate(_) => "truncate",
            Self::Expired(_) => "expired",
            Self::HalfOpen(_) => "half_open",
            Self::Malformed { .. } => "malformed",
            Self::Duplicated(_) => "duplicated",
            Self::Reordered { .. } => "reordered",
            Self::Oversized { .. } => "oversized",
            Self::Dropped { .. } => "dropped",
            Self::SpoiltItem { .. } => "spoilt_item",
            Self::Slow { .. } => "slow",
        }
    }

    /// Where it happens; `None` for what only time or the whole body decides.
    pub(crate) fn place(&self) -> Option<Place> {
        match self {
            Self::Cut(cut) => match (cut.after_events, cut.after) {
                (None, Some(_)) => None,
                (after, _) => Some(Place {
                    after: after.unwrap_or(0),
                    of: cut.of,
                }),
            },
            Self::SpoiltItem { .. } => Some(Place::default()),
            Self::Slow { .. } => None,
            Self::Truncate(at)
            | Self::Expired(at)
            | Self::HalfOpen(at)
            | Self::Duplicated(at)
            | Self::Malformed { at, .. }
            | Self::Reordered { at, .. }
            | Self::Oversized { at, .. }
            | Self::Dropped { at, .. } => Some(*at),
        }
    }
}

// === impl Place ===

impl Place {
    /// After so many events, bookmarks not counted.
    #[must_use]
    pub const fn events(after: u64) -> Self {
        Self {
            after,
            of: Counted::Events,
        }
    }

    /// After so many bookmarks, events not counted.
    #[must_use]
    pub const fn bookmarks(after: u64) -> Self {
        Self {
            after,
            of: Counted::Bookmarks,
        }
    }
}

impl From<u64> for Place {
    /// After so many lines, whatever they are.
    fn from(after: u64) -> Self {
        Self {
            after,
            of: Counted::Lines,
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

    /// Ends with a connection that is closed in the middle; see [`Ending::Torn`].
    #[must_use]
    pub const fn torn(mut self) -> Self {
        self.how = Ending::Torn;
        self
    }
}
