use std::fmt;

use super::failure::Failure;
use super::raise::Raise;
use super::reason::{Class, Reason};
use super::settings::DryRun;
use crate::client::ObjectKey;

/// One object, one pass: what was decided and what came of it.
///
/// [`Display`](fmt::Display) goes on where [`object`](Self::object) ends, in kubectl's
/// manner: `deployment.apps/web` `scaled from 1 to 2`.
///
/// | effect | reads |
/// |---|---|
/// | `Raised` | `scaled from 1 to 2` |
/// | `WouldRaise` | `would be scaled from 1 to 2 (dry run)` |
/// | `Failed` | `could not be raised from 1 to 2: ` and why |
/// | `NotSent` | `not raised from 1 to 2: interrupted` |
/// | `None` | the reason; `skipped: ` before it where the user may want to know why |
///
/// A failure never holds the words "scaled from … to": whoever greps a log for them finds
/// raises and not attempts. A dry run does, after "would be".
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Which Deployment.
    pub key: ObjectKey,
    /// Its uid, `None` if it was not seen.
    pub uid: Option<String>,
    /// What was decided, and why.
    pub reason: Reason,
    /// What came of it.
    pub effect: Effect,
    /// How far a raise was to go.
    pub dry_run: DryRun,
}

/// What came of a decision.
///
/// `Raised` also stands for a write whose answer was lost and whose number was then found on
/// the server. Two controllers that raise one Deployment in the same moment, both without
/// an answer, may both say so.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Nothing was to be done.
    None,
    /// The server has the new number.
    Raised {
        /// `spec.replicas` before.
        from: i32,
        /// `spec.replicas` now.
        to: i32,
    },
    /// A dry run: nothing was stored.
    WouldRaise {
        /// `spec.replicas` as it is.
        from: i32,
        /// What it would become.
        to: i32,
    },
    /// It should have been raised, or looked at, and was not.
    Failed(Failure),
    /// It should have been raised, and the user stopped the run before that was sent.
    NotSent,
}

// === impl Verdict ===

impl Verdict {
    /// What came of `raise` if the server answered it with success, and has `kept` now.
    pub fn answered(raise: &Raise, kept: i32, dry_run: DryRun) -> Self {
        let (from, to) = (raise.from, raise.to);
        let effect = match dry_run {
            _ if kept != to => Effect::Failed(Failure::Kept { kept, asked: to }),
            DryRun::None => Effect::Raised { from, to },
            DryRun::Client | DryRun::Server => Effect::WouldRaise { from, to },
        };
        Self::of(raise, effect, dry_run)
    }

    /// What came of `raise`.
    pub(super) fn of(raise: &Raise, effect: Effect, dry_run: DryRun) -> Self {
        let (from, to) = (raise.from, raise.to);
        Self {
            key: raise.key.clone(),
            uid: Some(raise.uid.clone()),
            reason: Reason::Raise { from, to },
            effect,
            dry_run,
        }
    }

    /// The object as kubectl names it: `deployment.apps/web`.
    pub fn object(&self) -> String {
        format!("deployment.apps/{}", self.key.name())
    }

    /// What was changed, would be changed, or was to be changed: from, to.
    pub fn change(&self) -> Option<(i32, i32)> {
        match (&self.effect, &self.reason) {
            (Effect::Raised { from, to } | Effect::WouldRaise { from, to }, _)
            | (_, Reason::Raise { from, to }) => Some((*from, *to)),
            _ => None,
        }
    }

    /// Why it failed, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.effect {
            Effect::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.dry_run {
            DryRun::None => "",
            DryRun::Client => " (dry run)",
            DryRun::Server => " (server dry run)",
        };
        // A failure never holds the words of a success: whoever searches for "scaled
        // from 1 to 2" must find only what was scaled.
        match (&self.effect, &self.reason) {
            (Effect::Raised { from, to }, _) => write!(f, "scaled from {from} to {to}"),
            (Effect::WouldRaise { from, to }, _) => {
                write!(f, "would be scaled from {from} to {to}{suffix}")
            }
            (Effect::Failed(failure), Reason::Raise { from, to }) => {
                let message = failure.message();
                write!(
                    f,
                    "could not be raised from {from} to {to}: {message}{suffix}"
                )
            }
            (Effect::Failed(failure), reason) => write!(f, "{reason}: {}", failure.message()),
            (Effect::NotSent, Reason::Raise { from, to }) => {
                write!(f, "not raised from {from} to {to}: interrupted")
            }
            (Effect::None | Effect::NotSent, reason) if reason.class() == Class::Skipped => {
                write!(f, "skipped: {reason}")
            }
            (Effect::None | Effect::NotSent, reason) => write!(f, "{reason}"),
        }
    }
}
