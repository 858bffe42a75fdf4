use std::num::NonZeroU32;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Duration, Instant};

use super::attempts::{Attempts, Clearance};
use super::budget::{Budget, Slot, Turn};
use super::fight::{Before, Fights, Holding};
use super::opponent::Opponent;
use super::raise::Raise;
use super::reason::Reason;
use super::settings::DryRun;
use super::verdict::Verdict;
use crate::client::ObjectKey;

/// What keeps a loop from writing too often. A single pass has none of it: there every
/// call tries once.
///
/// Only pacing: nothing in here decides what is right. If all of it is lost, by a restart
/// for example, each decision is tried once more, and each fight begins anew.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    attempts: Attempts,
    fights: Mutex<Fights>,
    /// `None`: no limit.
    budget: Option<Mutex<Budget>>,
    /// How many keys wait for the budget.
    waiting: watch::Sender<usize>,
}

/// One write that was let through. When this is dropped its end has come, as far as anybody
/// will hear of it, and it counts; unless it is [taken back](Self::take_back).
#[derive(Debug)]
#[must_use]
pub(super) struct Spent<'a> {
    pacing: &'a Pacing,
    key: ObjectKey,
    before: Before,
    slot: Option<Slot>,
}

// === impl Pacing ===

impl Pacing {
    /// At most `limit` raises a minute.
    pub(super) fn limited(self, limit: Option<NonZeroU32>) -> Self {
        Self {
            budget: limit.map(|limit| Mutex::new(Budget::new(limit))),
            ..self
        }
    }

    /// After a failure it waits for `first`, after the next twice that, up to `longest`; spread
    /// by chance.
    pub(super) fn retry_delays(self, first: Duration, longest: Duration) -> Self {
        Self {
            attempts: Attempts::new(first, longest).spread(),
            ..self
        }
    }

    /// The number of keys that wait for the budget, as it changes.
    pub(super) fn waiting(&self) -> watch::Receiver<usize> {
        self.waiting.subscribe()
    }

    pub(super) fn holding(&self, key: &ObjectKey, uid: &str, now: Instant) -> Option<Holding> {
        self.fights.lock().holding(key, uid, now)
    }

    pub(super) fn name_opponent(&self, key: &ObjectKey, uid: &str, found: Opponent) {
        self.fights.lock().name_opponent(key, uid, found);
    }

    /// Whether the last failure of this decision lets it be tried now. If not, it leaves
    /// the line for the budget: nobody behind it should wait for its failures.
    pub(super) fn clearance(&self, raise: &Raise, now: Instant) -> Clearance {
        let clearance = self.attempts.clearance(raise, now);
        if clearance != Clearance::Go {
            self.leave_line(&raise.key);
        }
        clearance
    }

    /// Lets a write through that is about to be sent, or says when to come again.
    ///
    /// It counts from here on, whether or not its answer is ever heard; a refusal is
    /// [taken back](Spent::take_back).
    pub(super) fn spend(&self, raise: &Raise, now: Instant) -> Result<Spent<'_>, Turn> {
        let slot = match &self.budget {
            None => None,
            Some(budget) => Some(self.update(budget, |it| it.take(&raise.key, now))?),
        };
        let before = self.fights.lock().raised(&raise.key, &raise.uid, now);
        Ok(Spent {
            pacing: self,
            key: raise.key.clone(),
            before,
            slot,
        })
    }

    /// Takes note of what a call came to.
    pub(super) fn note(&self, verdict: &Verdict, now: Instant) {
        self.attempts.record(verdict, now);
        // Who takes the label away for a moment is in the fight still.
        if verdict.reason == Reason::NoLongerExists {
            self.fights.lock().forget(&verdict.key);
        }
        if !matches!(verdict.reason, Reason::Budget { .. }) {
            self.leave_line(&verdict.key);
        }
    }

    /// Takes note of a try that was cut off before anything came of it.
    pub(super) fn cut_off(&self, raise: &Raise, now: Instant) {
        self.attempts.cut_off(raise, now);
        self.leave_line(&raise.key);
    }

    /// How long the next look should wait, if it is only time that has to pass.
    pub(super) fn wait(&self, verdict: &Verdict, now: Instant) -> Option<Duration> {
        match &verdict.reason {
            Reason::Budget { wait, .. } => Some(*wait),
            Reason::Fight { .. } => {
                let uid = verdict.uid.as_deref()?;
                // Over already: look again at once.
                let holding = self.holding(&verdict.key, uid, now);
                Some(holding.map_or(Duration::ZERO, |it| it.remaining))
            }
            _ => None,
        }
    }

    /// Ends what is under way in `slot`, in this way.
    fn end(&self, slot: Option<Slot>, how: impl FnOnce(&mut Budget, Slot)) {
        if let (Some(budget), Some(slot)) = (&self.budget, slot) {
            self.update(budget, |it| how(it, slot));
        }
    }

    fn leave_line(&self, key: &ObjectKey) {
        if let Some(budget) = &self.budget {
            self.update(budget, |it| it.forget(key));
        }
    }

    fn update<T>(&self, budget: &Mutex<Budget>, change: impl FnOnce(&mut Budget) -> T) -> T {
        let mut budget = budget.lock();
        let result = change(&mut budget);
        let now = budget.waiting();
        self.waiting.send_if_modified(|waiting| {
            let changed = *waiting != now;
            *waiting = now;
            changed
        });
        result
    }
}

// === impl Spent ===

impl Spent<'_> {
    /// Nothing was written, for certain.
    pub(super) fn take_back(mut self) {
        let before = std::mem::take(&mut self.before);
        self.pacing.fights.lock().put_back(&self.key, before);
        let slot = self.slot.take();
        self.pacing
            .end(slot, |budget, slot| budget.give_back(slot, &self.key));
    }
}

impl Drop for Spent<'_> {
    fn drop(&mut self) {
        let (slot, now) = (self.slot.take(), Instant::now());
        self.pacing
            .end(slot, |budget, slot| budget.ended(slot, now));
    }
}

/// Whether a write in this mode counts: a dry run stores nothing.
pub(super) fn is_paced(dry_run: DryRun) -> bool {
    dry_run == DryRun::None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::min_replicas::{Effect, Failure, Through};

    fn raise(name: &str, from: i32) -> Raise {
        Raise {
            key: ObjectKey::namespaced("shop", name),
            uid: "u".into(),
            resource_version: "7".into(),
            from,
            to: 2,
            through: Through::Scale,
        }
    }

    fn failed(raise: &Raise) -> Verdict {
        let kept = Failure::Kept { kept: 1, asked: 2 };
        Verdict::of(raise, Effect::Failed(kept), DryRun::None)
    }

    /// It came into line with one decision, and its turn comes with another that has failed.
    #[tokio::test(start_paused = true)]
    async fn who_waits_out_a_failure_holds_nobody_up() {
        let (pacing, start) = (
            Pacing::default().limited(NonZeroU32::new(1)),
            Instant::now(),
        );
        let (from_zero, from_one) = (raise("web", 0), raise("web", 1));
        for _ in 0..12 {
            pacing.note(&failed(&from_zero), start);
        }
        drop(pacing.spend(&raise("api", 1), start).unwrap());
        pacing.spend(&from_one, start).unwrap_err();
        pacing.spend(&raise("cart", 1), start).unwrap_err();
        assert_eq!(*pacing.waiting().borrow(), 2);

        let turn = start + Duration::from_secs(60);
        let waits = pacing.clearance(&from_zero, turn);
        assert!(matches!(waits, Clearance::Wait(_)), "{waits:?}");
        assert_eq!(*pacing.waiting().borrow(), 1);
        let _spent = pacing.spend(&raise("cart", 1), turn).unwrap();
    }

    #[test]
    fn a_refused_write_costs_neither_a_slot_nor_a_round_of_a_fight() {
        let (pacing, now) = (
            Pacing::default().limited(NonZeroU32::new(1)),
            Instant::now(),
        );
        let web = raise("web", 1);
        for _ in 0..10 {
            pacing.spend(&web, now).unwrap().take_back();
        }
        assert_eq!(pacing.holding(&web.key, &web.uid, now), None);
    }

    /// What is told of the line is what the line is, whoever changed it.
    #[test]
    fn who_gets_back_into_line_is_counted_as_waiting() {
        let (pacing, now) = (
            Pacing::default().limited(NonZeroU32::new(1)),
            Instant::now(),
        );
        let web = raise("web", 1);
        let spent = pacing.spend(&web, now).unwrap();
        pacing.spend(&raise("api", 1), now).unwrap_err();
        assert_eq!(*pacing.waiting().borrow(), 1);
        spent.take_back();
        assert_eq!(*pacing.waiting().borrow(), 2);
        pacing.note(&failed(&web), now);
        assert_eq!(*pacing.waiting().borrow(), 1);
    }

    /// Its call was dropped: its minute begins, or nobody behind it would ever get its slot.
    #[tokio::test(start_paused = true)]
    async fn a_write_that_nobody_waits_for_any_more_frees_its_slot_after_a_minute() {
        let pacing = Pacing::default().limited(NonZeroU32::new(1));
        let (web, api) = (raise("web", 1), raise("api", 1));
        let spent = pacing.spend(&web, Instant::now()).unwrap();
        tokio::time::advance(Duration::from_secs(90)).await;
        let early = pacing.spend(&api, Instant::now()).unwrap_err();
        assert_eq!(early.wait, Duration::from_secs(60), "it is under way");
        drop(spent);
        tokio::time::advance(Duration::from_secs(59)).await;
        pacing.spend(&api, Instant::now()).unwrap_err();
        tokio::time::advance(Duration::from_secs(1)).await;
        let _spent = pacing.spend(&api, Instant::now()).unwrap();
    }

    /// Who takes the label away for a moment is in the fight still.
    #[test]
    fn only_the_end_of_an_object_ends_its_fight() {
        let (pacing, now) = (Pacing::default(), Instant::now());
        let web = raise("web", 1);
        for _ in 0..3 {
            drop(pacing.spend(&web, now).unwrap());
        }
        for (reason, holds) in [
            (Reason::NoLongerOptedIn, true),
            (Reason::BeingDeleted, true),
            (Reason::NoLongerExists, false),
        ] {
            let verdict = Verdict {
                reason,
                ..Verdict::of(&web, Effect::None, DryRun::None)
            };
            pacing.note(&verdict, now);
            let holding = pacing.holding(&web.key, &web.uid, now);
            assert_eq!(holding.is_some(), holds, "{verdict}");
        }
    }

    /// Its call was dropped: nobody knows what came of it.
    #[test]
    fn a_write_whose_end_nobody_heard_of_counts() {
        let (pacing, now) = (Pacing::default(), Instant::now());
        let web = raise("web", 1);
        for _ in 0..3 {
            drop(pacing.spend(&web, now).unwrap());
        }
        assert!(pacing.holding(&web.key, &web.uid, now).is_some());
    }
}
