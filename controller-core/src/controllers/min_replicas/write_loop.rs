use std::sync::Arc;

use tokio::time::Instant;

use super::after_write::{Live, MAX_REPLANS, Next, Refusal, after_refusal, left_nothing};
use super::autoscaler::HorizontalPodAutoscaler;
use super::failure::Failure;
use super::observe::{LiveAutoscalers, Seen};
use super::pacing::{Pacing, Spent, is_paced};
use super::plan::{Observed, Plan, plan};
use super::raise::{Raise, Through};
use super::reason::Reason;
use super::reconciler::MinReplicas;
use super::settings::DryRun;
use super::trying::Trying;
use super::verdict::{Effect, Verdict};
use super::write_scale::{WriteError, WriteScale};
use crate::client::ApiError;
use crate::watch::Object;

/// What came of one try to write.
enum Tried {
    /// That is all that comes of it.
    Ended(Effect),
    /// The decision stands no more, and nothing was sent.
    Overtaken(Read),
    /// It failed, and the object is another one, or another state of it.
    Changed { read: Read, failure: Failure },
}

/// What reading live brought: the Deployment, and the autoscaler if that was written to.
pub(super) enum Read {
    /// There is no Deployment any more.
    Gone,
    Unread(ApiError),
    Seen {
        seen: Seen,
        /// The autoscaler that was written to; `None` if it was not one, or is gone.
        autoscaler: Option<Arc<HorizontalPodAutoscaler>>,
    },
}

// === impl MinReplicas ===

impl<W: WriteScale> MinReplicas<W> {
    /// Writes `raise`; after any refusal looks at the live objects and decides anew.
    ///
    /// Sends at most [`MAX_REPLANS`] + 1 writes, each guarded by the newest observation,
    /// and each let through by the pacing of `trying`. Each counts there until the live object shows that
    /// it left nothing behind.
    pub(super) async fn write(
        &self,
        mut seen: Seen,
        mut raise: Raise,
        trying: Option<&Trying<'_>>,
    ) -> Verdict {
        let is_paced = is_paced(self.settings.dry_run);
        let pacing = trying.map(Trying::pacing).filter(|_| is_paced);
        let mut replans = 0;
        loop {
            if let Some(trying) = trying {
                trying.begins(&raise);
            }
            let spent = match self.spend(&seen, &raise, pacing) {
                Ok(spent) => spent,
                Err(held) => return *held,
            };
            let (read, failure) = match self.attempt(&seen, &raise, spent, trying).await {
                Tried::Ended(effect) => return self.tried(&seen, &raise, effect),
                Tried::Overtaken(read) => (read, None),
                Tried::Changed { read, failure } => (read, Some(failure)),
            };
            let live = match read {
                Read::Gone => return self.gone(&raise.key),
                Read::Unread(read) => return self.failed(&seen, &raise, read.into()),
                Read::Seen { seen, .. } => seen,
            };
            raise = match self.decide(&live, pacing).await {
                Plan::Leave(reason) => return self.left_meanwhile(&live, reason),
                Plan::Blocked(reason) => return self.blocked(&live, reason),
                Plan::Raise(next) if replans < MAX_REPLANS => next,
                Plan::Raise(next) => return self.failed(&live, &next, exhausted(failure)),
            };
            seen = live;
            replans += 1;
        }
    }

    /// Sends one write, unless what it rests on proves to be over. `spent` counts unless
    /// nothing was written, for certain.
    async fn attempt(
        &self,
        seen: &Seen,
        raise: &Raise,
        mut spent: Option<Spent<'_>>,
        trying: Option<&Trying<'_>>,
    ) -> Tried {
        if let Some(read) = self.overtaken(seen, raise).await {
            take_back(spent);
            return Tried::Overtaken(read);
        }
        let dry_run = self.settings.dry_run == DryRun::Server;
        let now_has = |kept| Verdict::answered(raise, kept, self.settings.dry_run).effect;
        let error = match self.writer.write_scale(raise, dry_run).await {
            Ok(kept) => return Tried::Ended(now_has(kept)),
            Err(WriteError::Closed) => {
                take_back(spent);
                return Tried::Ended(Effect::NotSent);
            }
            Err(WriteError::Api(error)) => error,
        };
        let refusal = Refusal::from(&error);
        let failure = Failure::from(error);
        // The read may take as long as a request may, and the call may be dropped within it.
        if left_nothing(refusal, raise, Live::Unread) {
            take_back(spent.take());
        }
        if let Some(trying) = trying {
            trying.refused(self.failed(seen, raise, failure.clone()));
        }
        let read = self.read_again(raise).await;
        let live = read.written_to(raise);
        if left_nothing(refusal, raise, live) {
            take_back(spent);
        }
        match after_refusal(refusal, raise, live, dry_run) {
            Next::Done => Tried::Ended(now_has(raise.to)),
            Next::ReportWrite => Tried::Ended(Effect::Failed(failure)),
            Next::ReportRead | Next::PlanAgain | Next::Gone => Tried::Changed { read, failure },
        }
    }

    /// Lets one write through, or says why not now.
    fn spend<'a>(
        &self,
        seen: &Seen,
        raise: &Raise,
        pacing: Option<&'a Pacing>,
    ) -> Result<Option<Spent<'a>>, Box<Verdict>> {
        let Some(pacing) = pacing else {
            return Ok(None);
        };
        let turn = match pacing.spend(raise, Instant::now()) {
            Ok(spent) => return Ok(Some(spent)),
            Err(turn) => turn,
        };
        let budget = Some(turn);
        let held = self.observed(seen, |observed| {
            plan(&Observed { budget, ..observed }, &self.settings)
        });
        Err(Box::new(match held {
            Plan::Blocked(reason) => self.blocked(seen, reason),
            Plan::Leave(_) | Plan::Raise(_) => self.left(seen, held.reason()),
        }))
    }

    /// Reads live what the raise was decided from.
    async fn read_again(&self, raise: &Raise) -> Read {
        let deployment = match self.read_live(&raise.key).await {
            Ok(Some(live)) => live,
            Ok(None) => return Read::Gone,
            Err(error) => return Read::Unread(error),
        };
        let seen = Seen::live(deployment);
        let Through::Autoscaler { name, .. } = &raise.through else {
            return Read::Seen {
                seen,
                autoscaler: None,
            };
        };
        match self.read_autoscalers(&raise.key, name).await {
            Ok(LiveAutoscalers {
                written,
                of_deployment,
            }) => Read::Seen {
                seen: Seen {
                    autoscalers: Some(of_deployment),
                    ..seen
                },
                autoscaler: written,
            },
            Err(error) => Read::Unread(error),
        }
    }

    fn failed(&self, seen: &Seen, raise: &Raise, failure: Failure) -> Verdict {
        self.tried(seen, raise, Effect::Failed(failure))
    }

    /// It was opted in when the write was planned. If it has left the set that is watched,
    /// those are the words, and its cache entry will go with the same ones.
    fn left_meanwhile(&self, live: &Seen, reason: Reason) -> Verdict {
        let reason = match reason {
            Reason::NotOptedIn { found: None, .. } | Reason::NotSelected { .. } => {
                Reason::NoLongerOptedIn
            }
            other => other,
        };
        self.left(live, reason)
    }
}

/// Nothing was written.
fn take_back(spent: Option<Spent<'_>>) {
    if let Some(spent) = spent {
        spent.take_back();
    }
}

/// What is reported when the object changed under every try; `last` is what the last one
/// failed with.
fn exhausted(last: Option<Failure>) -> Failure {
    let is_conflict = |it: &Failure| it.api_error().is_some_and(ApiError::is_conflict);
    match last {
        Some(failure) if !is_conflict(&failure) => failure,
        _ => Failure::Conflicts {
            tries: MAX_REPLANS + 1,
        },
    }
}

// === impl Read ===

impl Read {
    /// What is to be decided from, before anything was written.
    pub(super) fn seen(seen: Seen) -> Self {
        Self::Seen {
            seen,
            autoscaler: None,
        }
    }

    /// The object that `raise` was written to.
    fn written_to(&self, raise: &Raise) -> Live<'_> {
        match (self, &raise.through) {
            (Self::Gone, _) => Live::Gone,
            (Self::Unread(_), _) => Live::Unread,
            (Self::Seen { seen, .. }, Through::Scale) => Live::Found {
                uid: seen.deployment.uid(),
                resource_version: seen.deployment.resource_version(),
                number: seen.deployment.replicas(),
            },
            (Self::Seen { autoscaler, .. }, Through::Autoscaler { .. }) => match autoscaler {
                Some(it) => Live::Found {
                    uid: it.uid(),
                    resource_version: it.resource_version(),
                    number: it.min(),
                },
                None => Live::Gone,
            },
        }
    }
}
