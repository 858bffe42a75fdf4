//! What goes wrong with a body, in the words of a script file.

use std::num::NonZeroU64;

use serde::Deserialize;

use super::parsed::{Lines, Parsed, Size, Time};
use crate::{Action, Counted, Cut, Ending, Place, StreamFault};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CutWords {
    after_events: Option<Parsed<Lines>>,
    #[serde(default)]
    of: Of,
    after: Option<Parsed<Time>>,
    #[serde(default)]
    how: How,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    #[serde(default)]
    after_events: Parsed<Lines>,
    #[serde(default)]
    of: Of,
}

#[derive(Deserialize)]
#[serde(try_from = "ExpiredWords")]
pub(super) struct Expired(Action);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpiredWords {
    #[serde(rename = "as")]
    how: ExpiredAs,
    after_events: Option<Parsed<Lines>>,
    of: Option<Of>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Malformed {
    #[serde(default)]
    after_events: Parsed<Lines>,
    #[serde(default)]
    of: Of,
    #[serde(default = "garbage")]
    line: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reordered {
    #[serde(default)]
    after_events: Parsed<Lines>,
    #[serde(default)]
    of: Of,
    #[serde(default = "within")]
    within: Parsed<Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Oversized {
    #[serde(default)]
    after_events: Parsed<Lines>,
    #[serde(default)]
    of: Of,
    bytes: Parsed<Size>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dropped {
    #[serde(default)]
    after_events: Parsed<Lines>,
    #[serde(default)]
    of: Of,
    #[serde(default = "one")]
    lines: Parsed<NonZeroU64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpoiltItem {
    #[serde(default)]
    after_items: Parsed<usize>,
    #[serde(default = "garbage")]
    item: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slow {
    bytes: Parsed<Size>,
    every: Parsed<Time>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Of {
    #[default]
    Lines,
    Events,
    Bookmarks,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    #[default]
    Clean,
    Reset,
    Torn,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExpiredAs {
    Status,
    Event,
}

// === impl CutWords ===

impl From<CutWords> for Cut {
    fn from(words: CutWords) -> Self {
        Self {
            after_events: words.after_events.map(|lines| lines.0.0),
            of: words.of.into(),
            after: words.after.map(|time| time.0.0),
            how: match words.how {
                How::Clean => Ending::Clean,
                How::Reset => Ending::Reset,
                How::Torn => Ending::Torn,
            },
        }
    }
}

// === impl After ===

impl From<After> for Place {
    fn from(words: After) -> Self {
        place(&words.after_events, words.of)
    }
}

// === impl Expired ===

impl From<Expired> for Action {
    fn from(words: Expired) -> Self {
        words.0
    }
}

impl TryFrom<ExpiredWords> for Expired {
    type Error = &'static str;

    fn try_from(words: ExpiredWords) -> Result<Self, Self::Error> {
        match (words.how, words.after_events, words.of) {
            (ExpiredAs::Status, None, None) => Ok(Self(Action::Expired)),
            (ExpiredAs::Status, ..) => {
                Err("`after_events` and `of` are about a stream; they go with `as: event`")
            }
            (ExpiredAs::Event, after, of) => {
                let at = place(&after.unwrap_or_default(), of.unwrap_or_default());
                Ok(Self(StreamFault::Expired(at).into()))
            }
        }
    }
}

// === impl Malformed ===

impl From<Malformed> for StreamFault {
    fn from(words: Malformed) -> Self {
        Self::Malformed {
            at: place(&words.after_events, words.of),
            line: words.line,
        }
    }
}

// === impl Reordered ===

impl From<Reordered> for StreamFault {
    fn from(words: Reordered) -> Self {
        Self::Reordered {
            at: place(&words.after_events, words.of),
            within: words.within.0.0,
        }
    }
}

// === impl Oversized ===

impl From<Oversized> for StreamFault {
    fn from(words: Oversized) -> Self {
        Self::Oversized {
            at: place(&words.after_events, words.of),
            bytes: words.bytes.0.0,
        }
    }
}

// === impl Dropped ===

impl From<Dropped> for StreamFault {
    fn from(words: Dropped) -> Self {
        Self::Dropped {
            at: place(&words.after_events, words.of),
            lines: words.lines.0.get(),
        }
    }
}

// === impl SpoiltItem ===

impl From<SpoiltItem> for StreamFault {
    fn from(words: SpoiltItem) -> Self {
        Self::SpoiltItem {
            after_items: words.after_items.0,
            item: words.item,
        }
    }
}

// === impl Slow ===

impl From<Slow> for StreamFault {
    fn from(words: Slow) -> Self {
        Self::Slow {
            bytes: words.bytes.0.0,
            every: words.every.0.0,
        }
    }
}

// === impl Of ===

impl From<Of> for Counted {
    fn from(of: Of) -> Self {
        match of {
            Of::Lines => Self::Lines,
            Of::Events => Self::Events,
            Of::Bookmarks => Self::Bookmarks,
        }
    }
}

fn place(after: &Parsed<Lines>, of: Of) -> Place {
    Place {
        after: after.0.0,
        of: of.into(),
    }
}

fn garbage() -> String {
    r#"{"type":"MODIFIED","object":{"kind":"#.to_owned()
}

fn within() -> Parsed<Time> {
    Parsed(Time(StreamFault::WITHIN))
}

fn one() -> Parsed<NonZeroU64> {
    Parsed(NonZeroU64::MIN)
}
