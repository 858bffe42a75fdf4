use std::collections::BTreeSet;
use std::error::Error;

use super::answer::namespace_terminates;
use crate::client::{ApiError, Verb};

/// Tells of events that could not be written: once for each cause, and not once for each
/// event. The numbers are in the counts.
#[derive(Default)]
pub(super) struct WriteLog {
    /// Verbs and HTTP statuses that were told of, for good: there are few.
    refusals: BTreeSet<(&'static str, u16)>,
    /// The server could not be reached, and somebody was told.
    unreachable: bool,
}

// === impl WriteLog ===

impl WriteLog {
    /// An event was written.
    pub(super) fn written(&mut self) {
        if std::mem::take(&mut self.unreachable) {
            tracing::info!("events are written again");
        }
    }

    /// The server does not want one.
    pub(super) fn refused(&mut self, error: &ApiError) {
        let Some(answer) = error.answer() else {
            tracing::warn!(error = %with_cause(error), "an event cannot be sent");
            return;
        };
        let verb = answer.verb.as_str();
        if namespace_terminates(error) || !self.refusals.insert((verb, answer.code)) {
            tracing::debug!(%error, "an event was refused");
            return;
        }
        // A quota, a webhook and a policy answer 403 too.
        let unauthorized = format!("cannot {verb} resource");
        if !(error.is_forbidden() && answer.message.contains(&unauthorized)) {
            tracing::warn!(
                %error,
                "an event was refused, further refusals of this kind are only counted"
            );
            return;
        }
        let missing = format!("{verb} {}", answer.target.resource);
        if answer.verb == Verb::Patch {
            tracing::warn!(
                missing,
                %error,
                "no permission to patch events, each is told of once and its repeats are only counted"
            );
        } else {
            tracing::warn!(
                missing,
                %error,
                "no permission to write events, further refusals are only counted"
            );
        }
    }

    /// There was no answer to rely on.
    pub(super) fn failed(&mut self, error: &ApiError) {
        if std::mem::replace(&mut self.unreachable, true) {
            tracing::debug!(error = %with_cause(error), "an event could not be written");
        } else {
            tracing::warn!(
                error = %with_cause(error),
                "events cannot be written for now, they are tried again"
            );
        }
    }
}

/// The error and what it comes from; the layers in between say nothing new.
fn with_cause(error: &ApiError) -> String {
    match std::iter::successors(error.source(), |&cause| cause.source()).last() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
