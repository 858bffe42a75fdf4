//! Which verdicts are worth an Event. Pure: the recorder that makes one is elsewhere.

use std::collections::BTreeMap;
use std::mem::take;

use hashbrown::{HashMap, HashSet};

use super::failure::Failure;
use super::reason::{Class, Reason};
use super::verdict::{Effect, Verdict};
use crate::client::ObjectKey;

/// What an Event of a Deployment is about.
///
/// Its note is the verdict's own sentence. An Event is for whoever looks at one object with
/// `kubectl describe`, so there is one when something changed for that object, and none when
/// all is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// It, or its autoscaler's minimum, was raised.
    Raised,
    /// It is left alone, and was not a moment ago, or is for another reason.
    Skipped,
    /// It was raised again and again, and did not stay up.
    Fight,
    /// It should have been raised, and was not.
    FailedUpdate,
}

/// Remembers of each Deployment what its last verdict was, and finds the [`Occasion`]s.
///
/// Holds one entry for each Deployment that it was told of, until that one is gone.
///
/// ```
/// use controller_core::controllers::min_replicas::{Occasions, Reporter, Verdict};
/// use parking_lot::Mutex;
///
/// struct Events(Mutex<Occasions>);
///
/// impl Reporter for Events {
///     fn report(&self, verdict: &Verdict) {
///         let occasion = self.0.lock().note(verdict);
///         if let Some(occasion) = occasion {
///             let kind = if occasion.is_warning() { "Warning" } else { "Normal" };
///             println!("{kind} {} {}: {verdict}", occasion.reason(), verdict.key);
///         }
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct Occasions {
    last: HashMap<ObjectKey, Verdict>,
    /// Those that were there at the start and had no verdict yet.
    from_the_start: HashSet<ObjectKey>,
    /// How many of those were left alone, by reason.
    left_at_start: BTreeMap<&'static str, usize>,
}

/// The occasion of an Event, if `verdict` is one.
///
/// `before` is the last verdict about the same object, and `at_start` says that it is the
/// first one about an object that was there already when the program started.
///
/// - A raise is always one. A dry run never is.
/// - Left alone: once for each change of the reason, but not for an object that is being
///   deleted, nor for one that was left alone when the program started: that is no news of
///   the object, and would be an Event for each of thousands. Those are counted in one line.
/// - A fight: once for each of its rounds.
/// - A failure: once for each message, while it lasts.
///
/// A verdict that nothing is to be done, or that the object is gone, never is.
pub fn occasion(before: Option<&Verdict>, at_start: bool, verdict: &Verdict) -> Option<Occasion> {
    let same_object = before.filter(|before| before.uid == verdict.uid);
    let same_reason = || {
        same_object.is_some_and(|before| {
            matches!(before.effect, Effect::None) && before.reason.is_same_decision(&verdict.reason)
        })
    };
    match (&verdict.effect, &verdict.reason) {
        (Effect::Raised { .. }, _) => Some(Occasion::Raised),
        // Nothing is known of the object, not even whether it exists.
        (Effect::Failed(_), reason) if reason.class() == Class::Unread => None,
        (Effect::Failed(failure), _) => {
            let told = same_object.and_then(Verdict::failure);
            (told.map(Failure::message) != Some(failure.message()))
                .then_some(Occasion::FailedUpdate)
        }
        (Effect::None, Reason::BeingDeleted) => None,
        (Effect::None, Reason::Fight { .. }) => (!same_reason()).then_some(Occasion::Fight),
        (Effect::None, reason) if reason.class() == Class::Skipped => {
            (!at_start && !same_reason()).then_some(Occasion::Skipped)
        }
        _ => None,
    }
}

// === impl Occasion ===

impl Occasion {
    /// The Event's reason: a stable token.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Raised => "Raised",
            Self::Skipped => "Skipped",
            Self::Fight => "Fight",
            Self::FailedUpdate => "FailedUpdate",
        }
    }

    /// Whether the Event's type is Warning, and not Normal.
    pub fn is_warning(self) -> bool {
        matches!(self, Self::Fight | Self::FailedUpdate)
    }
}

// === impl Occasions ===

impl Occasions {
    /// `from_the_start`: the Deployments that are there before the first verdict.
    pub fn new(from_the_start: impl IntoIterator<Item = ObjectKey>) -> Self {
        Self {
            from_the_start: from_the_start.into_iter().collect(),
            ..Self::default()
        }
    }

    /// How many Deployments were left alone from the start, by reason, once all of those
    /// have been looked at: the one line that stands for their Events. `None` before that,
    /// after it was asked for, and if there are none.
    pub fn left_at_start(&mut self) -> Option<BTreeMap<&'static str, usize>> {
        let complete = self.from_the_start.is_empty() && !self.left_at_start.is_empty();
        complete.then(|| take(&mut self.left_at_start))
    }

    /// Takes note of a verdict. Returns what it is the occasion of.
    pub fn note(&mut self, verdict: &Verdict) -> Option<Occasion> {
        let at_start = self.from_the_start.remove(&verdict.key);
        let found = occasion(self.last.get(&verdict.key), at_start, verdict);
        let left = matches!(verdict.effect, Effect::None);
        if at_start && left && verdict.reason.class() == Class::Skipped {
            *self.left_at_start.entry(verdict.reason.name()).or_default() += 1;
        }
        let fails = |before: &Verdict| before.uid == verdict.uid && before.failure().is_some();
        match verdict.reason.class() {
            Class::Gone => _ = self.last.remove(&verdict.key),
            // Its turn has not come: nothing was tried, and what failed is not over.
            Class::Waiting
                if matches!(verdict.reason, Reason::Budget { .. })
                    && self.last.get(&verdict.key).is_some_and(fails) => {}
            // It says nothing of the object: what was known before is still the latest.
            Class::Unread => {}
            _ => _ = self.last.insert(verdict.key.clone(), verdict.clone()),
        }
        found
    }
}

#[cfg(test)]
mod tests;
