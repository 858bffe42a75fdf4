use std::cmp::min;

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

use super::raise::Raise;
use super::reason::{Class, Reason};
use super::settings::DryRun;
use super::verdict::{Effect, Verdict};
use crate::client::ObjectKey;
use crate::queue::{TENTH, spread};

/// The wait after the first failure, unless another is named; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The longest wait between two tries of one decision, unless another is named.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Nobody waits for longer, and no clock ends within it.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// What came of the last try of each object whose decision has not changed since.
///
/// The queue's own backoff is not enough: an event serves a key at once, and a write that
/// the server undoes causes one, so that the two would chase each other. Here a decision
/// that failed waits its time whatever wakes it, and a dry run that was judged is not
/// sent again. Only pacing: if all of this is lost, each decision is tried once more.
///
/// Holds at most one entry for each Deployment that is below the minimum.
#[derive(Debug)]
pub(super) struct Attempts {
    first_wait: Duration,
    longest_wait: Duration,
    /// What chance adds to a wait, as a share of it.
    jitter: f64,
    /// An entry is made by a failure, a cut or a judged dry run, and goes with any other verdict.
    last: Mutex<HashMap<ObjectKey, Attempt>>,
}

/// Whether a decision may be tried now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clearance {
    /// Yes.
    Go,
    /// Not before this long.
    Wait(Duration),
    /// Not until the decision changes: the server has judged it.
    Judged,
}

/// The last try of one decision. It counts only for the same object and the same numbers:
/// another decision need not wait for this one's failures.
#[derive(Debug)]
struct Attempt {
    uid: String,
    /// Which number, from, to.
    reason: Reason,
    state: State,
}

#[derive(Debug)]
enum State {
    Failed { times: u32, not_before: Instant },
    Judged,
}

// === impl Attempts ===

impl Attempts {
    pub(super) fn new(first_wait: Duration, longest_wait: Duration) -> Self {
        Self {
            first_wait,
            longest_wait: min(longest_wait, YEAR),
            jitter: 0.0,
            last: Mutex::default(),
        }
    }

    /// Lets chance add a tenth to a wait, or take one off the longest. The queue does so too,
    /// but a resync wakes all objects, and what is waited for here is the rest.
    pub(super) fn spread(self) -> Self {
        Self {
            jitter: TENTH,
            ..self
        }
    }

    /// Whether `raise` may be sent now.
    pub(super) fn clearance(&self, raise: &Raise, now: Instant) -> Clearance {
        let last = self.last.lock();
        let same = last
            .get(&raise.key)
            .filter(|attempt| attempt.is_of(&raise.uid, &raise.reason()));
        match same.map(|attempt| &attempt.state) {
            Some(State::Judged) => Clearance::Judged,
            Some(State::Failed { not_before, .. }) if *not_before > now => {
                Clearance::Wait(*not_before - now)
            }
            _ => Clearance::Go,
        }
    }

    /// Remembers what came of a decision, or forgets the object if nothing is to be
    /// remembered.
    pub(super) fn record(&self, verdict: &Verdict, now: Instant) {
        let mut last = self.last.lock();
        let reason = &verdict.reason;
        if matches!(reason, Reason::Budget { .. }) {
            // Its turn has not come: nothing was tried, and nothing got better.
            return;
        }
        let (Some(uid), Class::Raise) = (&verdict.uid, reason.class()) else {
            last.remove(&verdict.key);
            return;
        };
        let state = match &verdict.effect {
            Effect::Failed(_) if !is_judged(verdict) => {
                self.one_failure_more(last.get(&verdict.key), uid, reason, now)
            }
            _ if is_judged(verdict) => State::Judged,
            _ => {
                last.remove(&verdict.key);
                return;
            }
        };
        last.insert(
            verdict.key.clone(),
            Attempt {
                uid: uid.clone(),
                reason: reason.clone(),
                state,
            },
        );
    }

    /// The try was cut off before anything came of it: that is a failure too, or an event
    /// would have it tried again at once.
    pub(super) fn cut_off(&self, raise: &Raise, now: Instant) {
        let (uid, reason) = (raise.uid.clone(), raise.reason());
        let mut last = self.last.lock();
        let state = self.one_failure_more(last.get(&raise.key), &uid, &reason, now);
        last.insert(raise.key.clone(), Attempt { uid, reason, state });
    }

    fn one_failure_more(
        &self,
        before: Option<&Attempt>,
        uid: &str,
        reason: &Reason,
        now: Instant,
    ) -> State {
        let before = before.filter(|attempt| attempt.is_of(uid, reason));
        let times = before.map_or(1, Attempt::failures_and_this);
        State::Failed {
            times,
            not_before: now + self.wait_after(times),
        }
    }

    fn wait_after(&self, failures: u32) -> Duration {
        let doublings = min(failures.saturating_sub(1), 31);
        let wait = self.first_wait.saturating_mul(2u32.pow(doublings));
        spread(wait, self.jitter, Some(self.longest_wait), rand::random())
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Self::new(FIRST_WAIT, LONGEST_WAIT)
    }
}

/// Whether the server has judged a dry run: another try of the same decision would only
/// get the same answer. A server that could not be reached, or had no time, has not.
pub(super) fn is_judged(verdict: &Verdict) -> bool {
    if verdict.dry_run != DryRun::Server {
        return false;
    }
    match &verdict.effect {
        Effect::WouldRaise { .. } => true,
        Effect::Failed(failure) => match failure.code() {
            Some(code) => (400..500).contains(&code) && !matches!(code, 401 | 408 | 409 | 429),
            // The server answered with another number than was asked for.
            None => failure.api_error().is_none(),
        },
        Effect::None | Effect::Raised { .. } | Effect::NotSent | Effect::Withheld => false,
    }
}

// === impl Attempt ===

impl Attempt {
    fn is_of(&self, uid: &str, reason: &Reason) -> bool {
        self.uid == uid && self.reason == *reason
    }

    fn failures_and_this(&self) -> u32 {
        match self.state {
            State::Failed { times, .. } => times.saturating_add(1),
            State::Judged => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Answer, ApiError, Target, Verb};
    use crate::controllers::min_replicas::{Failure, Through};

    const SECOND: Duration = Duration::from_secs(1);

    fn raise(uid: &str, from: i32) -> Raise {
        Raise {
            key: ObjectKey::namespaced("shop", "web"),
            uid: uid.into(),
            resource_version: "7".into(),
            from,
            to: 2,
            through: Through::Scale,
        }
    }

    fn verdict(raise: &Raise, effect: Effect, dry_run: DryRun) -> Verdict {
        Verdict {
            key: raise.key.clone(),
            uid: Some(raise.uid.clone()),
            reason: Reason::Raise {
                from: raise.from,
                to: raise.to,
            },
            effect,
            dry_run,
            rejected_min: None,
        }
    }

    fn kept() -> Effect {
        Effect::Failed(Failure::Kept { kept: 1, asked: 2 })
    }

    /// Tries as often as it may for `span`, with an event every 10 ms.
    fn tries_within(span: Duration) -> u32 {
        let (attempts, raise, start) = (Attempts::default(), raise("u", 1), Instant::now());
        let mut tries = 0;
        let mut now = start;
        while now < start + span {
            if attempts.clearance(&raise, now) == Clearance::Go {
                tries += 1;
                attempts.record(&verdict(&raise, kept(), DryRun::None), now);
            }
            now += Duration::from_millis(10);
        }
        tries
    }

    /// C-29 allows 8 in 10 s, C-28 allows 14 in 20 s.
    #[test]
    fn events_do_not_shorten_the_wait_after_a_failure() {
        assert_eq!(tries_within(10 * SECOND), 7);
        assert_eq!(tries_within(20 * SECOND), 8);
    }

    /// C-28: what failed for 20 s is tried again within 25 s of the recovery.
    #[test]
    fn no_wait_is_longer_than_the_trouble_has_lasted() {
        let attempts = Attempts::default();
        let mut lasted = Duration::ZERO;
        for failures in 1..12 {
            let wait = attempts.wait_after(failures);
            assert!(wait <= lasted + FIRST_WAIT, "{wait:?} after {lasted:?}");
            lasted += wait;
        }
    }

    #[test]
    fn the_wait_has_an_upper_bound() {
        let attempts = Attempts::default();
        assert_eq!(attempts.wait_after(1), FIRST_WAIT);
        assert_eq!(attempts.wait_after(13), LONGEST_WAIT);
        assert_eq!(attempts.wait_after(u32::MAX), LONGEST_WAIT);

        let patient = Attempts::new(Duration::MAX, Duration::MAX);
        patient.record(
            &verdict(&raise("u", 1), kept(), DryRun::None),
            Instant::now(),
        );
        assert_eq!(patient.wait_after(u32::MAX), YEAR);
    }

    #[test]
    fn another_decision_or_another_object_need_not_wait() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        attempts.record(&verdict(&raise("u", 1), kept(), DryRun::None), now);
        assert_eq!(
            attempts.clearance(&raise("u", 1), now),
            Clearance::Wait(FIRST_WAIT)
        );
        assert_eq!(attempts.clearance(&raise("u", 0), now), Clearance::Go);
        assert_eq!(attempts.clearance(&raise("v", 1), now), Clearance::Go);
    }

    #[test]
    fn a_success_or_another_reason_forgets_the_failures() {
        let raise = raise("u", 1);
        let satisfied = Verdict {
            reason: Reason::NoLongerExists,
            ..verdict(&raise, Effect::None, DryRun::None)
        };
        let raised = verdict(&raise, Effect::Raised { from: 1, to: 2 }, DryRun::None);
        for forgetting in [satisfied, raised] {
            let (attempts, now) = (Attempts::default(), Instant::now());
            attempts.record(&verdict(&raise, kept(), DryRun::None), now);
            attempts.record(&forgetting, now);
            assert_eq!(attempts.clearance(&raise, now), Clearance::Go);
            assert!(attempts.last.lock().is_empty());
        }
    }

    #[test]
    fn a_turn_that_has_not_come_forgets_nothing() {
        let (attempts, raise, now) = (Attempts::default(), raise("u", 1), Instant::now());
        let (limit, wait) = (100, SECOND);
        let budget = Verdict {
            reason: Reason::Budget { limit, wait },
            ..verdict(&raise, Effect::None, DryRun::None)
        };
        for failures in 1..=5 {
            attempts.record(&verdict(&raise, kept(), DryRun::None), now);
            attempts.record(&budget, now);
            let waits = Clearance::Wait(attempts.wait_after(failures));
            assert_eq!(attempts.clearance(&raise, now), waits);
        }
    }

    /// Who has no permission, no time, or another version at hand has not judged.
    #[test]
    fn a_dry_run_is_judged_by_what_would_be_the_same_again() {
        let judged = |code: u16| {
            let status = serde_json::from_value(serde_json::json!({
                "status": "Failure", "code": code, "message": "no",
            }));
            let answer = Answer::from_status(Verb::Patch, Target::default(), status.unwrap());
            let failed = Effect::Failed(ApiError::from(answer).into());
            is_judged(&verdict(&raise("u", 1), failed, DryRun::Server))
        };
        for code in [400, 403, 404, 413, 422] {
            assert!(judged(code), "{code}");
        }
        for code in [401, 408, 409, 429, 500, 503, 504] {
            assert!(!judged(code), "{code}");
        }
        assert!(is_judged(&verdict(&raise("u", 1), kept(), DryRun::Server)));
        assert!(!is_judged(&verdict(&raise("u", 1), kept(), DryRun::None)));
    }

    #[test]
    fn a_judged_dry_run_is_sent_once_per_decision() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        let would = Effect::WouldRaise { from: 1, to: 2 };
        attempts.record(&verdict(&raise("u", 1), would, DryRun::Server), now);
        let later = now + 3600 * SECOND;
        assert_eq!(attempts.clearance(&raise("u", 1), later), Clearance::Judged);
        assert_eq!(attempts.clearance(&raise("u", 0), later), Clearance::Go);
        // The decision was another one in between.
        let other = Verdict {
            reason: Reason::BeingDeleted,
            ..verdict(&raise("u", 1), Effect::None, DryRun::Server)
        };
        attempts.record(&other, later);
        assert_eq!(attempts.clearance(&raise("u", 1), later), Clearance::Go);
    }
}
