use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::debug;

use super::attempts::{Clearance, is_judged};
use super::autoscaler::HorizontalPodAutoscaler;
use super::deployment::Deployment;
use super::failure::Failure;
use super::minimum::minimum;
use super::namespace::Namespace;
use super::observe::Seen;
use super::pacing::Pacing;
use super::plan::{Plan, is_selected};
use super::raise::Raise;
use super::reason::Reason;
use super::reporter::Reporter;
use super::scaled_object::ScaledObject;
use super::settings::{DryRun, Settings};
use super::targets::TARGET_INDEX;
use super::trying::Trying;
use super::verdict::{Effect, Verdict};
use super::write_scale::WriteScale;
use crate::client::ObjectKey;
use crate::store::{Lister, UnknownIndex};
use crate::watch::Object;
use crate::worker::{Outcome, ReconcileError, Reconciler};

/// The caches that min-replicas decides from. They must have synced before the first
/// look: an autoscaler that is not there yet is an autoscaler that is fought.
#[derive(Clone, Debug)]
pub struct Caches {
    /// Deployments that have the opt-in label, whatever its value.
    pub deployments: Lister<Deployment>,
    /// All autoscalers of the same namespaces, with the index
    /// [`TARGET_INDEX`]; `None` only where they are to be ignored.
    pub autoscalers: Option<Lister<HorizontalPodAutoscaler>>,
    /// All ScaledObjects of the same namespaces, with the index [`TARGET_INDEX`]; `None`
    /// where they are to be ignored, or where the server does not have the kind.
    pub scaled_objects: Option<Lister<ScaledObject>>,
    /// Namespaces, `None` where they may not be read: then none is known to be paused. One
    /// that is missing here is read live before anything in it is raised.
    pub namespaces: Option<Lister<Namespace>>,
}

/// The min-replicas controller: observe, plan, write, for one key at a time.
///
/// As a [`Reconciler`] it serves a loop: a decision that failed waits longer each time,
/// whatever wakes it, a fight is waited out, and raises keep to the
/// [budget](Self::max_raises_per_minute). With [`look_at`](Self::look_at) and
/// [`carry_out`](Self::carry_out) it serves a single pass: every call tries. All decide
/// alike, and all tell the [`Reporter`].
///
/// **Errors of a reconcile.** A refused write is [`Transient`](ReconcileError::Transient),
/// also when it is a 403, a 422 or a webhook's: what refuses it is outside of the object
/// and may change without an event (a permission is granted, a quota raised, a webhook
/// mended), and other objects must not wait for it. [`Terminal`](ReconcileError::Terminal)
/// is what the server said in a dry run, which is asked once per decision, and a minimum
/// above an autoscaler's maximum.
///
/// **What it asks the server.** Nothing, for as long as the cache has the object and no
/// write is refused. A key that the cache does not have costs one GET, which tells "no
/// longer exists" from "no longer opted in"; a refused write costs one GET (and a list of
/// one autoscaler, where that was written to, or of all in the namespace, where that one is
/// gone) before it is planned again; each round of a fight costs one, which names the
/// opponent; a raise in a namespace that the cache does not have costs a list of one; and a
/// raise of an autoscaler's minimum costs one GET of its Deployment.
///
/// A call is idempotent, and may be dropped at any await. The writer ends what was sent; a
/// refusal that had come is told all the same, and the raise waits as after any failure. A
/// write whose answer comes only afterwards counts as one without an answer: for a fight, and
/// for a minute in the budget.
pub struct MinReplicas<W> {
    pub(super) caches: Caches,
    /// Reads single objects live; never writes.
    pub(super) client: Client,
    pub(super) settings: Settings,
    /// The only way to change anything.
    pub(super) writer: W,
    reporter: Arc<dyn Reporter>,
    /// Of [`reconcile`](Reconciler::reconcile) alone: a single pass tries everything once.
    pacing: Pacing,
}

/// What a look at one Deployment came to.
#[derive(Debug)]
pub enum Look {
    /// This is it.
    Settled(Verdict),
    /// Something is to be raised: [`MinReplicas::carry_out`] does.
    Due(Due),
}

/// A raise that is due, with what it was decided from.
#[derive(Clone, Debug)]
pub struct Due {
    seen: Seen,
    raise: Raise,
}

// === impl MinReplicas ===

impl<W: WriteScale> MinReplicas<W> {
    /// A controller over `caches`. `client` reads single objects live; only `writer`
    /// writes.
    ///
    /// # Errors
    /// If the cache of autoscalers, or of ScaledObjects, lacks the index [`TARGET_INDEX`].
    pub fn new(
        caches: Caches,
        client: Client,
        settings: Settings,
        writer: W,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Self, UnknownIndex> {
        // Found out here and not at the first look, where it would read as "there is
        // no autoscaler".
        if let Some(autoscalers) = &caches.autoscalers {
            autoscalers.by_index(TARGET_INDEX, "")?;
        }
        if let Some(scaled_objects) = &caches.scaled_objects {
            scaled_objects.by_index(TARGET_INDEX, "")?;
        }
        Ok(Self {
            caches,
            client,
            settings,
            writer,
            reporter,
            pacing: Pacing::default(),
        })
    }

    /// Lets a loop raise at most so many in any 60 seconds; those that wait keep their place
    /// in line. `None`, which is the default, is no limit.
    #[must_use]
    pub fn max_raises_per_minute(mut self, limit: Option<NonZeroU32>) -> Self {
        self.pacing = self.pacing.limited(limit);
        self
    }

    /// How long a loop waits before it tries a decision again that failed: `first`, which each
    /// further failure doubles, to `longest`. The default is 100 ms to 5 min.
    ///
    /// Give it what the limiter of the queue has. A key whose limiter wakes it sooner only
    /// waits for the rest; one that is woken later waits for its limiter.
    #[must_use]
    pub fn retry_delays(mut self, first: Duration, longest: Duration) -> Self {
        self.pacing = self.pacing.retry_delays(first, longest);
        self
    }

    /// How many Deployments wait for their turn, as it changes.
    pub fn waiting(&self) -> watch::Receiver<usize> {
        self.pacing.waiting()
    }

    /// Brings one Deployment, from the cache or else read live, to where it should be.
    pub async fn settle(&self, key: &ObjectKey) -> Verdict {
        let verdict = match self.look(key, None).await {
            Look::Due(due) => self.try_once(due, None).await,
            Look::Settled(verdict) => verdict,
        };
        self.reporter.report(&verdict);
        verdict
    }

    /// Looks at one Deployment that the caller has read, and decides; nothing is sent. For
    /// a pass that plans everything before it writes anything, and for objects that were
    /// asked for by name, which need not be in the cache: one that is not opted in is told
    /// so, with the label's value.
    pub fn look_at(&self, deployment: Arc<Deployment>) -> Look {
        let seen = Seen::from(deployment);
        let plan = self.plan_for(&seen, None);
        let look = self.judged(seen, plan);
        if let Look::Settled(verdict) = &look {
            self.reporter.report(verdict);
        }
        look
    }

    /// Does what is due, as far as the dry run lets it.
    pub async fn carry_out(&self, due: Due) -> Verdict {
        let verdict = self.try_once(due, None).await;
        self.reporter.report(&verdict);
        verdict
    }

    /// Does nothing (more) about what is due, for this reason: [`Effect::NotSent`],
    /// [`Effect::Withheld`], or a failure if nobody waits for the answer any more.
    pub fn leave_undone(&self, due: &Due, effect: Effect) -> Verdict {
        let verdict = self.tried(&due.seen, &due.raise, effect);
        self.reporter.report(&verdict);
        verdict
    }

    async fn look(&self, key: &ObjectKey, pacing: Option<&Pacing>) -> Look {
        let seen = match self.caches.deployments.get(key) {
            Some(cached) => Seen::from(cached),
            None => match self.read_live(key).await {
                // The cache has not heard of it yet; what the server says is newer.
                Ok(Some(live)) if is_selected(&live, &self.settings) => Seen::live(live),
                Ok(Some(live)) => {
                    return Look::Settled(self.left(&live.into(), Reason::NoLongerOptedIn));
                }
                Ok(None) => return Look::Settled(self.gone(key)),
                Err(error) => {
                    return Look::Settled(Verdict {
                        reason: Reason::Unread,
                        effect: Effect::Failed(Failure::from(error)),
                        ..self.gone(key)
                    });
                }
            },
        };
        let plan = self.decide(&seen, pacing).await;
        self.judged(seen, plan)
    }

    fn judged(&self, seen: Seen, plan: Plan) -> Look {
        match plan {
            Plan::Raise(raise) => Look::Due(Due { seen, raise }),
            Plan::Leave(reason) => Look::Settled(self.left(&seen, reason)),
            Plan::Blocked(reason) => Look::Settled(self.blocked(&seen, reason)),
        }
    }

    /// Does what the plan says, as far as the dry run lets it.
    async fn try_once(&self, due: Due, trying: Option<&Trying<'_>>) -> Verdict {
        let Due { seen, raise } = due;
        if self.settings.dry_run == DryRun::Client {
            let effect = Effect::WouldRaise {
                from: raise.from,
                to: raise.to,
            };
            return self.tried(&seen, &raise, effect);
        }
        self.write(seen, raise, trying).await
    }

    pub(super) fn left(&self, seen: &Seen, reason: Reason) -> Verdict {
        let deployment = &seen.deployment;
        let rejected_min = reason
            .rests_on_minimum()
            .then(|| minimum(deployment, &self.settings).rejected)
            .flatten();
        Verdict {
            uid: Some(deployment.uid().to_owned()),
            reason,
            rejected_min,
            ..self.gone(&deployment.key())
        }
    }

    /// Something is too low and cannot be raised.
    pub(super) fn blocked(&self, seen: &Seen, reason: Reason) -> Verdict {
        let effect = match &reason {
            Reason::MinAboveMax { max, to, .. } => Effect::Failed(Failure::MinAboveMax {
                max: *max,
                min: *to,
            }),
            _ => Effect::None,
        };
        Verdict {
            effect,
            ..self.left(seen, reason)
        }
    }

    pub(super) fn gone(&self, key: &ObjectKey) -> Verdict {
        Verdict {
            key: key.clone(),
            uid: None,
            reason: Reason::NoLongerExists,
            effect: Effect::None,
            dry_run: self.settings.dry_run,
            rejected_min: None,
        }
    }

    pub(super) fn tried(&self, seen: &Seen, raise: &Raise, effect: Effect) -> Verdict {
        Verdict {
            effect,
            ..self.left(seen, raise.reason())
        }
    }
}

impl<W: WriteScale> Reconciler for MinReplicas<W> {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Outcome, ReconcileError> {
        let pacing = &self.pacing;
        let verdict = match self.look(key, Some(pacing)).await {
            Look::Settled(verdict) => verdict,
            Look::Due(due) => match pacing.clearance(&due.raise, Instant::now()) {
                Clearance::Go => {
                    let trying = Trying::new(pacing, &*self.reporter);
                    let verdict = self.try_once(due, Some(&trying)).await;
                    trying.end();
                    verdict
                }
                Clearance::Wait(wait) => {
                    debug!(%key, ?wait, "held back after a failure");
                    return Ok(Outcome::NotYet(wait));
                }
                Clearance::Judged => return Ok(Outcome::Done),
            },
        };
        let now = Instant::now();
        pacing.note(&verdict, now);
        self.reporter.report(&verdict);
        let judged = is_judged(&verdict);
        match (&verdict.effect, pacing.wait(&verdict, now)) {
            (Effect::Failed(failure), _) if judged || failure.is_terminal() => {
                Err(ReconcileError::terminal(failure.clone()))
            }
            (Effect::Failed(failure), _) => Err(ReconcileError::transient(failure.clone())),
            // Its turn has not come: nothing was tried, and nothing got better.
            (_, Some(wait)) if matches!(verdict.reason, Reason::Budget { .. }) => {
                Ok(Outcome::NotYet(wait))
            }
            (_, Some(wait)) => Ok(Outcome::RequeueAfter(wait)),
            _ => Ok(Outcome::Done),
        }
    }
}

// === impl Due ===

impl Due {
    /// What is to be written.
    pub fn raise(&self) -> &Raise {
        &self.raise
    }
}
