//! What goes wrong, in the words of a script file.

use std::{collections::BTreeMap, str::FromStr};

use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::Value;

use super::parsed::{Code, Header, HeaderText, Parsed, Time};
use crate::{Action, Cut, Ending, Past, StatusFault, StreamFault};

/// What goes wrong, one word each.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wrong {
    Status(Status),
    Delay(Parsed<Time>),
    DelayAnswer(Parsed<Time>),
    Hang,
    Reset,
    LostAnswer,
    Cut(CutWords),
    Truncate(After),
    Expired(Expired),
    HalfOpen(After),
    Malformed(Malformed),
    AnswerFrom(Moment),
    Restore(Moment),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    code: Parsed<Code>,
    reason: Option<String>,
    message: Option<String>,
    details: Option<Value>,
    retry_after: Option<u64>,
    #[serde(default)]
    headers: BTreeMap<Parsed<Header>, Parsed<HeaderText>>,
    body: Option<String>,
    content_type: Option<Parsed<HeaderText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CutWords {
    after_events: Option<u64>,
    after: Option<Parsed<Time>>,
    #[serde(default)]
    how: How,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    #[default]
    Clean,
    Reset,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    #[serde(default)]
    after_events: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expired {
    #[serde(rename = "as")]
    how: ExpiredAs,
    after_events: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExpiredAs {
    Status,
    Event,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Malformed {
    #[serde(default)]
    after_events: u64,
    #[serde(default = "garbage")]
    line: String,
}

/// Exactly one of the two.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, try_from = "MomentWords")]
pub(super) struct Moment(Past);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MomentWords {
    revision: Option<u64>,
    behind: Option<u64>,
}

// === impl Wrong ===

impl From<Wrong> for Action {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Status(status) => StatusFault::from(status).into(),
            Wrong::Delay(time) => Self::Delay(time.0.0),
            Wrong::DelayAnswer(time) => Self::DelayAnswer(time.0.0),
            Wrong::Hang => Self::Hang,
            Wrong::Reset => Self::Reset,
            Wrong::LostAnswer => Self::LostAnswer,
            Wrong::Cut(CutWords {
                after_events,
                after,
                how,
            }) => {
                let how = match how {
                    How::Clean => Ending::Clean,
                    How::Reset => Ending::Reset,
                };
                Cut {
                    after_events,
                    after: after.map(|time| time.0.0),
                    how,
                }
                .into()
            }
            Wrong::Truncate(After { after_events }) => {
                StreamFault::Truncate { after_events }.into()
            }
            Wrong::Expired(Expired {
                how: ExpiredAs::Status,
                ..
            }) => Self::Expired,
            Wrong::Expired(Expired {
                how: ExpiredAs::Event,
                after_events,
            }) => StreamFault::Expired {
                after_events: after_events.unwrap_or(0),
            }
            .into(),
            Wrong::HalfOpen(After { after_events }) => {
                StreamFault::HalfOpen { after_events }.into()
            }
            Wrong::Malformed(Malformed { after_events, line }) => {
                StreamFault::Malformed { after_events, line }.into()
            }
            Wrong::AnswerFrom(moment) => Self::AnswerFrom(moment.0),
            Wrong::Restore(moment) => Self::Restore(moment.0),
        }
    }
}

// === impl Status ===

impl From<Status> for StatusFault {
    fn from(status: Status) -> Self {
        let headers: HeaderMap = status
            .headers
            .into_iter()
            .filter_map(|(name, value)| Some((HeaderName::from_str(&name.0.0).ok()?, value.0.0)))
            .collect();
        let mut fault = Self {
            code: status.code.0.0,
            reason: status.reason,
            message: status.message,
            details: status.details,
            headers,
            body: status.body.map(Bytes::from),
            content_type: status.content_type.map(|value| value.0.0),
        };
        if let Some(seconds) = status.retry_after {
            fault = fault.retry_after(seconds);
        }
        fault
    }
}

// === impl Moment ===

impl TryFrom<MomentWords> for Moment {
    type Error = &'static str;

    fn try_from(words: MomentWords) -> Result<Self, Self::Error> {
        match (words.revision, words.behind) {
            (Some(0), None) => Err("`revision` is a resourceVersion, and they begin at 1"),
            (None, Some(0)) => Err("`behind` is a number of revisions, at least 1"),
            (Some(revision), None) => Ok(Self(Past::Revision(revision))),
            (None, Some(revisions)) => Ok(Self(Past::Behind(revisions))),
            _ => Err("expected exactly one of `revision` and `behind`"),
        }
    }
}

fn garbage() -> String {
    r#"{"type":"MODIFIED","object":{"kind":"#.to_owned()
}
