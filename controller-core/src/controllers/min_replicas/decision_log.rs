use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::failure_log::{FailureLine, FailureLog};
use super::minimum::RejectedMin;
use super::reason::{Class, Reason};
use super::reporter::Reporter;
use super::verdict::{Effect, Verdict};
use crate::client::ObjectKey;

/// A [`Reporter`] that logs a line when an object's decision changes.
///
/// A decision that is merely confirmed goes to the debug level. Failures are warnings,
/// one for each message and not one for each object: when a server refuses everything,
/// the first is told in full and the others are counted. What was raised is always told.
///
/// Remembers one entry for each Deployment that it was told of, until that one is gone.
#[derive(Debug, Default)]
pub struct DecisionLog {
    state: Mutex<State>,
}

/// What a [`DecisionLog`] has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Raises that were written, since the start.
    pub raised: u64,
    /// Deployments that a dry run would raise, as of their last verdict.
    pub would_raise: usize,
    /// Deployments whose last verdict was a failure.
    pub failing: usize,
}

#[derive(Debug, Default)]
struct State {
    last: HashMap<ObjectKey, Decision>,
    failures: FailureLog,
    raised: u64,
}

/// The last verdict about one object, as far as the next one is compared with it.
#[derive(Debug)]
struct Decision {
    uid: Option<String>,
    reason: Reason,
    outcome: Outcome,
    rejected_min: Option<RejectedMin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    None,
    Raised,
    WouldRaise,
    Failed,
    NotSent,
    Withheld,
}

/// What of a verdict was not known before.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// The decision, or what came of it.
    decision: bool,
    /// That its annotation is no minimum.
    rejected: bool,
}

// === impl DecisionLog ===

impl DecisionLog {
    /// What was seen so far.
    pub fn tally(&self) -> Tally {
        let state = self.state.lock();
        let count = |wanted| {
            let outcomes = state.last.values().map(|decision| decision.outcome);
            outcomes.filter(|outcome| *outcome == wanted).count()
        };
        Tally {
            raised: state.raised,
            would_raise: count(Outcome::WouldRaise),
            failing: count(Outcome::Failed),
        }
    }
}

impl Reporter for DecisionLog {
    fn report(&self, verdict: &Verdict) {
        let (news, failures) = {
            let mut state = self.state.lock();
            (
                state.note(verdict),
                state.failures.note(verdict, Instant::now()),
            )
        };
        if let Some(line) = failures {
            log_failure(verdict, &line);
        }
        if news.rejected {
            log_rejected(verdict);
        }
        log_verdict(verdict, news.decision);
    }
}

/// Once a value: whoever corrects it, and is wrong again, is told again.
fn log_rejected(verdict: &Verdict) {
    if let Some(rejected) = &verdict.rejected_min {
        let namespace = verdict.key.namespace().unwrap_or_default();
        warn!(namespace, "{}: {rejected}", verdict.object());
    }
}

fn log_failure(verdict: &Verdict, line: &FailureLine) {
    let namespace = verdict.key.namespace().unwrap_or_default();
    match line {
        FailureLine::First => warn!(
            namespace,
            reason = verdict.reason.name(),
            "{} {verdict}",
            verdict.object()
        ),
        FailureLine::Others {
            count,
            failing,
            message,
        } => {
            let plural = if *count == 1 { "" } else { "s" };
            warn!(
                failing,
                "{count} more Deployment{plural} failed the same way: {message}"
            );
        }
    }
}

fn log_verdict(verdict: &Verdict, news: bool) {
    let namespace = verdict.key.namespace().unwrap_or_default();
    let reason = verdict.reason.name();
    let object = verdict.object();
    match &verdict.effect {
        // Told by the failure log, which counts them.
        Effect::Failed(_) => debug!(namespace, reason, "{object} {verdict}"),
        Effect::Raised { .. } => info!(namespace, reason, "{object} {verdict}"),
        _ if !news => debug!(namespace, reason, "{object} {verdict}"),
        // Whoever runs it counts those that wait for their turn: one line, not one each.
        _ if matches!(verdict.reason, Reason::Budget { .. }) => {
            debug!(namespace, reason, "{object} {verdict}");
        }
        _ if verdict.reason.is_warning() => warn!(namespace, reason, "{object} {verdict}"),
        _ => info!(namespace, reason, "{object} {verdict}"),
    }
}

// === impl State ===

impl State {
    /// Remembers the verdict.
    fn note(&mut self, verdict: &Verdict) -> News {
        if matches!(verdict.effect, Effect::Raised { .. }) {
            self.raised += 1;
        }
        if verdict.reason.class() == Class::Gone {
            // Without an entry its end was told before, or nobody ever heard of it.
            return News {
                decision: self.last.remove(&verdict.key).is_some(),
                rejected: false,
            };
        }
        if verdict.reason.class() == Class::Unread {
            // Nothing new is known about it. Its end, once read, must still be told.
            return News::default();
        }
        let before = self.last.get(&verdict.key);
        let rejected_min = if verdict.reason.rests_on_minimum() {
            verdict.rejected_min.clone()
        } else {
            // Nobody has looked at its annotation: what was told of it stays told.
            let same = before.filter(|before| before.uid == verdict.uid);
            same.and_then(|before| before.rejected_min.clone())
        };
        let decision = Decision {
            uid: verdict.uid.clone(),
            reason: verdict.reason.clone(),
            outcome: Outcome::from(&verdict.effect),
            rejected_min,
        };
        let news = before.is_none_or(|before| !before.is_same(&decision));
        let rejected = decision.rejected_min.is_some()
            && before.is_none_or(|before| {
                before.rejected_min != decision.rejected_min || before.uid != decision.uid
            });
        self.last.insert(verdict.key.clone(), decision);
        News {
            decision: news,
            rejected,
        }
    }
}

// === impl Decision ===

impl Decision {
    fn is_same(&self, other: &Self) -> bool {
        self.uid == other.uid
            && self.outcome == other.outcome
            && self.reason.is_same_decision(&other.reason)
    }
}

// === impl Outcome ===

impl From<&Effect> for Outcome {
    fn from(effect: &Effect) -> Self {
        match effect {
            Effect::None => Self::None,
            Effect::Raised { .. } => Self::Raised,
            Effect::WouldRaise { .. } => Self::WouldRaise,
            Effect::Failed(_) => Self::Failed,
            Effect::NotSent => Self::NotSent,
            Effect::Withheld => Self::Withheld,
        }
    }
}

#[cfg(test)]
mod tests;
