use std::fmt;

use super::failure::Failure;
use super::minimum::RejectedMin;
use super::raise::Raise;
use super::reason::{Class, Reason};
use super::settings::DryRun;
use crate::client::{ApiError, ObjectKey};

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
/// | `NotSent` | `not raised from 1 to 2: stopped before it was sent` |
/// | `Withheld` | `not raised from 1 to 2: more changes than are allowed` |
/// | `None` | the reason; `skipped: ` before it where the user may want to know why |
///
/// Where the number is an autoscaler's, it is named instead of the scaling:
/// `minReplicas of HorizontalPodAutoscaler web raised from 1 to 2`, and so on.
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
    /// Set if the decision rests on the default minimum because its annotation makes no
    /// sense: worth a warning beside whatever was decided.
    pub rejected_min: Option<RejectedMin>,
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
        /// The number before.
        from: i32,
        /// The number now.
        to: i32,
    },
    /// A dry run: nothing was stored.
    WouldRaise {
        /// The number as it is.
        from: i32,
        /// What it would become.
        to: i32,
    },
    /// It should have been raised, or looked at, and was not.
    Failed(Failure),
    /// It should have been raised, and the run was stopped before that was sent.
    NotSent,
    /// It should have been raised, and so should more than the user allows to be changed at
    /// once: so nothing was sent.
    Withheld,
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

    /// What came of `raise` if this was its answer, and there was nobody any more to look at
    /// the object again.
    pub fn late(raise: &Raise, answer: Result<i32, ApiError>, dry_run: DryRun) -> Self {
        match answer {
            Ok(kept) => Self::answered(raise, kept, dry_run),
            Err(error) => Self::of(raise, Effect::Failed(error.into()), dry_run),
        }
    }

    /// What came of `raise`.
    pub(super) fn of(raise: &Raise, effect: Effect, dry_run: DryRun) -> Self {
        Self {
            key: raise.key.clone(),
            uid: Some(raise.uid.clone()),
            reason: raise.reason(),
            effect,
            dry_run,
            rejected_min: None,
        }
    }

    /// The object as kubectl names it: `deployment.apps/web`.
    pub fn object(&self) -> String {
        format!("deployment.apps/{}", self.key.name())
    }

    /// What was changed, would be changed, or was to be changed: from, to. An autoscaler's
    /// `minReplicas` if [`Reason::autoscaler`] names one, else `spec.replicas`.
    pub fn change(&self) -> Option<(i32, i32)> {
        match &self.effect {
            Effect::Raised { from, to } | Effect::WouldRaise { from, to } => Some((*from, *to)),
            _ => self.reason.change(),
        }
    }

    /// Why it failed, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.effect {
            Effect::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// What failed, without why: `could not be raised from 1 to 2`.
    pub fn attempt(&self) -> String {
        match (&self.reason, self.reason.change()) {
            // Its own words are of that kind.
            (Reason::MinAboveMax { .. }, _) | (_, None) => self.reason.to_string(),
            (_, Some((from, to))) => {
                format!("{}could not be raised from {from} to {to}", self.what())
            }
        }
    }

    /// Nothing for the Deployment's own number, else which number it is.
    fn what(&self) -> String {
        match self.reason.autoscaler() {
            Some(_) => self.reason.number() + " ",
            None => String::new(),
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
        let what = self.what();
        // "scaled" is said of Deployments: whoever searches for it means those.
        let done = if what.is_empty() { "scaled" } else { "raised" };
        // A failure never holds the words of a success: whoever searches for "scaled
        // from 1 to 2" must find only what was scaled.
        match (&self.effect, self.reason.change()) {
            (Effect::Raised { from, to }, _) => write!(f, "{what}{done} from {from} to {to}"),
            (Effect::WouldRaise { from, to }, _) => {
                write!(f, "{what}would be {done} from {from} to {to}{suffix}")
            }
            (Effect::Failed(failure), change) => {
                write!(f, "{}: {}", self.attempt(), failure.message())?;
                f.write_str(if change.is_some() { suffix } else { "" })
            }
            (Effect::NotSent, Some((from, to))) => {
                write!(
                    f,
                    "{what}not raised from {from} to {to}: stopped before it was sent"
                )
            }
            (Effect::Withheld, Some((from, to))) => write!(
                f,
                "{what}not raised from {from} to {to}: more changes than are allowed"
            ),
            (Effect::None | Effect::NotSent | Effect::Withheld, _) => {
                let skipped = self.reason.class() == Class::Skipped;
                let before = if skipped { "skipped: " } else { "" };
                write!(f, "{before}{}", self.reason)
            }
        }
    }
}
