//! What goes wrong.

use std::time::Duration;

use http::StatusCode;

use crate::{Cut, Past, Place, StatusFault, StreamFault};

/// One thing that goes wrong with a request.
///
/// The actions of a rule are carried out in their order. `Status`, `Hang`, `Reset` and `Expired` end it there;
/// the others let the request through, most of them to spoil its answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Answers with a status; the request is not let through.
    Status(Box<StatusFault>),
    /// Lets the request through after this time.
    Delay(Duration),
    /// Lets the request through at once and its answer only after this time.
    DelayAnswer(Duration),
    /// Never answers; the request is not let through.
    Hang,
    /// Closes the connection instead of answering; the request is not let through.
    Reset,
    /// Lets the request through and closes the connection instead of answering: a write is applied and its
    /// sender cannot know.
    LostAnswer,
    /// Lets the request through and answers with a status instead: a write is applied and its sender is told
    /// that it was not.
    FalseAnswer(Box<StatusFault>),
    /// Answers 410 Expired as an HTTP status.
    Expired,
    /// Spoils the answer's body.
    Stream(StreamFault),
    /// Asks the server to answer a read as it would have then; see
    /// [`ServerFaults::answer_from`](crate::ServerFaults::answer_from).
    AnswerFrom(Past),
    /// Asks the server to come back from a backup first; see
    /// [`ServerFaults::restore`](crate::ServerFaults::restore).
    Restore(Past),
    /// Every `resourceVersion` in the answer becomes a text without digits or order, and those in the query
    /// and body of the request are turned back. The same version always becomes the same text, for every
    /// request and server.
    ///
    /// A rule that does only this acts beside the rule that a request is otherwise subject to. It is of use
    /// only if every request sees it: leave the matcher empty. Only JSON is translated; a watch that is told
    /// in Protobuf shows numbers.
    OpaqueRevisions,
}

// === impl Action ===

impl Action {
    /// An answer with this code and a `Status` body.
    ///
    /// # Panics
    ///
    /// If `code` is no HTTP status code from 200 to 999.
    #[must_use]
    pub fn status(code: u16) -> StatusFault {
        let code = StatusCode::from_u16(code).ok();
        let code = code.filter(|code| !code.is_informational());
        StatusFault::new(code.expect("invariant: the caller names a code from 200 to 999"))
    }

    /// This answer to a request that was let through, whatever came of it; see [`FalseAnswer`](Self::FalseAnswer).
    #[must_use]
    pub fn false_answer(answer: StatusFault) -> Self {
        Self::FalseAnswer(Box::new(answer))
    }

    /// The word that stands for it in a script file.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Status(_) => "status",
            Self::Delay(_) => "delay",
            Self::DelayAnswer(_) => "delay_answer",
            Self::Hang => "hang",
            Self::Reset => "reset",
            Self::LostAnswer => "lost_answer",
            Self::FalseAnswer(_) => "false_answer",
            Self::Expired => "expired",
            Self::Stream(fault) => fault.word(),
            Self::AnswerFrom(_) => "answer_from",
            Self::Restore(_) => "restore",
            Self::OpaqueRevisions => "opaque_revisions",
        }
    }

    /// Whether only a server that knows its own past can carry it out: a proxy cannot.
    #[must_use]
    pub const fn needs_the_server(&self) -> bool {
        matches!(self, Self::AnswerFrom(_) | Self::Restore(_))
    }

    /// A body that ends at this place.
    #[must_use]
    pub fn cut_after_events(at: impl Into<Place>) -> Cut {
        let Place { after, of } = at.into();
        Cut {
            after_events: Some(after),
            of,
            ..Cut::default()
        }
    }

    /// A body that ends after `time`.
    #[must_use]
    pub fn cut_after(time: Duration) -> Cut {
        Cut {
            after: Some(time),
            ..Cut::default()
        }
    }

    /// See [`StreamFault::Truncate`].
    #[must_use]
    pub fn truncate_after_events(at: impl Into<Place>) -> Self {
        StreamFault::Truncate(at.into()).into()
    }

    /// See [`StreamFault::Expired`].
    #[must_use]
    pub fn expired_in_stream(at: impl Into<Place>) -> Self {
        StreamFault::Expired(at.into()).into()
    }

    /// See [`StreamFault::HalfOpen`].
    #[must_use]
    pub fn half_open_after_events(at: impl Into<Place>) -> Self {
        StreamFault::HalfOpen(at.into()).into()
    }

    /// See [`StreamFault::Malformed`].
    #[must_use]
    pub fn malformed(at: impl Into<Place>, line: impl Into<String>) -> Self {
        let (at, line) = (at.into(), line.into());
        StreamFault::Malformed { at, line }.into()
    }

    /// See [`StreamFault::Duplicated`].
    #[must_use]
    pub fn duplicated(at: impl Into<Place>) -> Self {
        StreamFault::Duplicated(at.into()).into()
    }

    /// See [`StreamFault::Reordered`]; the first line waits for a second.
    #[must_use]
    pub fn reordered(at: impl Into<Place>) -> Self {
        let at = at.into();
        let within = StreamFault::WITHIN;
        StreamFault::Reordered { at, within }.into()
    }

    /// See [`StreamFault::Oversized`].
    #[must_use]
    pub fn oversized(at: impl Into<Place>, bytes: usize) -> Self {
        let at = at.into();
        StreamFault::Oversized { at, bytes }.into()
    }

    /// One line is silently left out; see [`StreamFault::Dropped`].
    #[must_use]
    pub fn dropped(at: impl Into<Place>) -> Self {
        let at = at.into();
        StreamFault::Dropped { at, lines: 1 }.into()
    }

    /// See [`StreamFault::SpoiltItem`].
    #[must_use]
    pub fn spoilt_item(after_items: usize, item: impl Into<String>) -> Self {
        let item = item.into();
        StreamFault::SpoiltItem { after_items, item }.into()
    }

    /// See [`StreamFault::Slow`].
    #[must_use]
    pub fn slow(bytes: usize, every: Duration) -> Self {
        StreamFault::Slow { bytes, every }.into()
    }
}

impl From<StatusFault> for Action {
    fn from(status: StatusFault) -> Self {
        Self::Status(Box::new(status))
    }
}

impl From<StreamFault> for Action {
    fn from(fault: StreamFault) -> Self {
        Self::Stream(fault)
    }
}

impl From<Cut> for Action {
    fn from(cut: Cut) -> Self {
        Self::Stream(StreamFault::Cut(cut))
    }
}
