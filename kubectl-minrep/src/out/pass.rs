use std::time::Duration;

use controller_core::client::ObjectKey;
use controller_core::controllers::min_replicas::{Class, DryRun, Effect, Verdict};
use controller_core::runtime::TooManyChanges;

/// What one pass of `reconcile once` came to: what the table, the JSON document and the
/// summary line are made from, so that they cannot disagree.
#[derive(Clone, Debug)]
pub struct Pass {
    /// One for each Deployment that was looked at, sorted by key.
    pub verdicts: Vec<Verdict>,
    /// Deployments that were named and do not exist.
    pub missing: Vec<ObjectKey>,
    /// How far changes went.
    pub dry_run: DryRun,
    /// How many were to be changed.
    pub planned: usize,
    /// How many may be changed, `None` without a limit.
    pub max_changes: Option<usize>,
    /// Set if those were more than may be, so that nothing was written.
    pub too_many: Option<TooManyChanges>,
    /// Whether a signal ended the pass before everything was looked at.
    pub interrupted: bool,
    /// The timeout, if it came before everything was done.
    pub timed_out: Option<Duration>,
    /// Whether everything was read that decisions need: else there are none.
    pub synced: bool,
    /// Deployments that a signal or the timeout came before: they are in no list.
    pub not_looked_at: usize,
    /// Writes that were sent and had no answer in time: they may have been applied.
    pub unanswered: usize,
    /// What could not be taken into account.
    pub warnings: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// How many Deployments came to what. The counts add up to `considered`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that were looked at or asked for.
    pub considered: usize,
    /// Written.
    pub raised: usize,
    /// A dry run would have written them.
    pub would_raise: usize,
    /// Should have been raised, or looked at, and were not.
    pub failed: usize,
    /// Left alone for a reason that a person may want to know.
    pub skipped: usize,
    /// At or above the minimum.
    pub satisfied: usize,
    /// Named, or seen a moment before, and no longer there.
    pub not_found: usize,
    /// Should have been raised; a signal, or the timeout, came first.
    pub not_sent: usize,
    /// Should have been raised, with more others than may be changed at once.
    pub withheld: usize,
}

// === impl Pass ===

impl Pass {
    /// Counts everything once.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            considered: self.verdicts.len() + self.missing.len(),
            not_found: self.missing.len(),
            ..Counts::default()
        };
        for verdict in &self.verdicts {
            *counts.place_of(verdict) += 1;
        }
        counts
    }
}

// === impl Counts ===

impl Counts {
    fn place_of(&mut self, verdict: &Verdict) -> &mut usize {
        match (&verdict.effect, verdict.reason.class()) {
            (Effect::Raised { .. }, _) => &mut self.raised,
            (Effect::WouldRaise { .. }, _) => &mut self.would_raise,
            (Effect::Failed(_), _) => &mut self.failed,
            (Effect::NotSent, _) => &mut self.not_sent,
            (Effect::Withheld, _) => &mut self.withheld,
            (Effect::None, Class::Satisfied) => &mut self.satisfied,
            (Effect::None, Class::Gone) => &mut self.not_found,
            (Effect::None, _) => &mut self.skipped,
        }
    }
}
