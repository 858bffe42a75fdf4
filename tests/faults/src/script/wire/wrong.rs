//! What goes wrong, in the words of a script file.

use std::{collections::BTreeMap, num::NonZeroU64, str::FromStr};

use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::Value;

use super::{
    parsed::{Code, Header, HeaderText, Parsed, Time},
    stream::{
        After, CutWords, Dropped, Expired, Malformed, Oversized, Reordered, Slow, SpoiltItem,
    },
};
use crate::{Action, Cut, Past, StatusFault, StreamFault};

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
    FalseAnswer(Status),
    Cut(CutWords),
    Truncate(After),
    Expired(Expired),
    HalfOpen(After),
    Malformed(Malformed),
    Duplicated(After),
    Reordered(Reordered),
    Oversized(Oversized),
    Dropped(Dropped),
    SpoiltItem(SpoiltItem),
    Slow(Slow),
    AnswerFrom(Moment),
    Restore(Moment),
    OpaqueRevisions,
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

/// Exactly one of the two.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, try_from = "MomentWords")]
pub(super) struct Moment(Past);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MomentWords {
    revision: Option<Parsed<NonZeroU64>>,
    behind: Option<Parsed<NonZeroU64>>,
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
            Wrong::FalseAnswer(status) => Self::false_answer(status.into()),
            Wrong::Expired(words) => words.into(),
            Wrong::AnswerFrom(moment) => Self::AnswerFrom(moment.0),
            Wrong::Restore(moment) => Self::Restore(moment.0),
            Wrong::OpaqueRevisions => Self::OpaqueRevisions,
            Wrong::Cut(words) => Cut::from(words).into(),
            Wrong::Truncate(at) => StreamFault::Truncate(at.into()).into(),
            Wrong::HalfOpen(at) => StreamFault::HalfOpen(at.into()).into(),
            Wrong::Malformed(words) => StreamFault::from(words).into(),
            Wrong::Duplicated(at) => StreamFault::Duplicated(at.into()).into(),
            Wrong::Reordered(words) => StreamFault::from(words).into(),
            Wrong::Oversized(words) => StreamFault::from(words).into(),
            Wrong::Dropped(words) => StreamFault::from(words).into(),
            Wrong::SpoiltItem(words) => StreamFault::from(words).into(),
            Wrong::Slow(words) => StreamFault::from(words).into(),
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
            (Some(revision), None) => Ok(Self(Past::Revision(revision.0.get()))),
            (None, Some(revisions)) => Ok(Self(Past::Behind(revisions.0.get()))),
            _ => Err("expected exactly one of `revision` and `behind`"),
        }
    }
}
