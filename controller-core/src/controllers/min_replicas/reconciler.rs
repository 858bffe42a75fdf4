use std::sync::Arc;

use kube::Client;
use tokio::time::Instant;
use tracing::debug;

use super::attempts::{Attempts, Clearance, is_judged};
use super::autoscaler::HorizontalPodAutoscaler;
use super::deployment::Deployment;
use super::failure::Failure;
use super::namespace::Namespace;
use super::plan::{Observed, Plan, is_selected, plan};
use super::raise::Raise;
use super::reason::Reason;
use super::reporter::Reporter;
use super::settings::{DryRun, Settings};
use super::targets::TARGET_INDEX;
use super::verdict::{Effect, Verdict};
use super::write_scale::WriteScale;
use crate::client::{ApiError, Call, ObjectKey, fetch};
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
    /// Namespaces, `None` where they may not be read: then none is known to be paused.
    pub namespaces: Option<Lister<Namespace>>,
}

/// The min-replicas controller: observe, plan, write, for one key at a time.
///
/// As a [`Reconciler`] it serves a loop: a decision that failed waits longer each time,
/// whatever wakes it. With [`settle`](Self::settle) it serves a single pass: every call
/// tries. Both decide alike, and both tell the [`Reporter`].
///
/// **Errors of a reconcile.** A refused write is [`Transient`](ReconcileError::Transient),
/// also when it is a 403, a 422 or a webhook's: what refuses it is outside of the object
/// and may change without an event (a permission is granted, a quota raised, a webhook
/// mended), and other objects must not wait for it. [`Terminal`](ReconcileError::Terminal)
/// is only what the server said in a dry run, which is asked once per decision.
///
/// **What it asks the server.** Nothing, for as long as the cache has the object and no
/// write is refused. A key that the cache does not have costs one GET, which tells "no
/// longer exists" from "no longer opted in"; a refused write costs one GET before it is
/// planned again.
///
/// A call is idempotent, and may be dropped at any await: the writer ends what was sent.
pub struct MinReplicas<W> {
    caches: Caches,
    /// Reads single objects live; never writes.
    client: Client,
    pub(super) settings: Settings,
    /// The only way to change anything.
    pub(super) writer: W,
    reporter: Arc<dyn Reporter>,
    /// Of [`reconcile`](Reconciler::reconcile) alone: a single pass tries everything once.
    attempts: Attempts,
}

/// What a look at one key came to.
enum Look {
    Raise(Raise),
    Settled(Verdict),
}

// === impl MinReplicas ===

impl<W: WriteScale> MinReplicas<W> {
    /// A controller over `caches`. `client` reads single objects live; only `writer`
    /// writes.
    ///
    /// # Errors
    /// If the autoscalers' cache lacks the index [`TARGET_INDEX`].
    pub fn new(
        caches: Caches,
        client: Client,
        settings: Settings,
        writer: W,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Self, UnknownIndex> {
        if let Some(autoscalers) = &caches.autoscalers {
            // Found out here and not at the first look, where it would read as "there is
            // no autoscaler".
            autoscalers.by_index(TARGET_INDEX, "")?;
        }
        Ok(Self {
            caches,
            client,
            settings,
            writer,
            reporter,
            attempts: Attempts::default(),
        })
    }

    /// Brings one Deployment, from the cache or else read live, to where it should be.
    pub async fn settle(&self, key: &ObjectKey) -> Verdict {
        let verdict = match self.look(key).await {
            Look::Raise(raise) => self.carry_out(raise).await,
            Look::Settled(verdict) => verdict,
        };
        self.reporter.report(&verdict);
        verdict
    }

    /// Brings one Deployment that the caller has read to where it should be. For objects
    /// that were asked for by name, which need not be in the cache: one that is not
    /// opted in is told so, with the label's value.
    pub async fn settle_object(&self, deployment: &Deployment) -> Verdict {
        let verdict = match self.plan_for(deployment) {
            Plan::Raise(raise) => self.carry_out(raise).await,
            Plan::Leave(reason) => self.left(deployment, reason),
        };
        self.reporter.report(&verdict);
        verdict
    }

    async fn look(&self, key: &ObjectKey) -> Look {
        if let Some(deployment) = self.caches.deployments.get(key) {
            return self.look_at(&deployment);
        }
        match self.read_live(key).await {
            Ok(Some(live)) if is_selected(&live, &self.settings) => {
                // The cache has not heard of it yet; what the server says is newer.
                self.look_at(&live)
            }
            Ok(Some(live)) => Look::Settled(self.left(&live, Reason::NoLongerOptedIn)),
            Ok(None) => Look::Settled(self.gone(key)),
            Err(error) => Look::Settled(Verdict {
                key: key.clone(),
                uid: None,
                reason: Reason::Unread,
                effect: Effect::Failed(Failure::from(error)),
                dry_run: self.settings.dry_run,
            }),
        }
    }

    fn look_at(&self, deployment: &Deployment) -> Look {
        match self.plan_for(deployment) {
            Plan::Raise(raise) => Look::Raise(raise),
            Plan::Leave(reason) => Look::Settled(self.left(deployment, reason)),
        }
    }

    /// Observes what else there is to know about `deployment`, and decides.
    pub(super) fn plan_for(&self, deployment: &Deployment) -> Plan {
        let key = deployment.key();
        let namespace = self.namespace_of(&key);
        let autoscaler = self.autoscaler_of(&key);
        let observed = Observed {
            deployment,
            namespace: namespace.as_deref(),
            autoscaler: autoscaler.as_deref(),
        };
        plan(&observed, &self.settings)
    }

    fn namespace_of(&self, key: &ObjectKey) -> Option<Arc<Namespace>> {
        let namespaces = self.caches.namespaces.as_ref()?;
        namespaces.get(&ObjectKey::cluster(key.namespace()?))
    }

    fn autoscaler_of(&self, key: &ObjectKey) -> Option<Arc<HorizontalPodAutoscaler>> {
        self.caches
            .autoscalers
            .as_ref()?
            .by_index(TARGET_INDEX, &key.to_string())
            .expect("invariant: the index was asked for when the controller was made")
            .into_iter()
            // Several may target one Deployment. Always the same one is named, and one
            // that works before one that may not.
            .min_by_key(|autoscaler| (autoscaler.odd_api_version().is_some(), autoscaler.key()))
    }

    /// Reads the object from the server, `None` if the server has none of that name.
    pub(super) async fn read_live(&self, key: &ObjectKey) -> Result<Option<Deployment>, ApiError> {
        match fetch(&self.client, Call::get(&Deployment::RESOURCE, key)).await {
            Ok(deployment) => Ok(Some(deployment)),
            // Not a gateway's 404: that one knows nothing of Deployments.
            Err(ApiError::NotFound(answer)) if answer.from_api => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Does what the plan says, as far as the dry run lets it.
    async fn carry_out(&self, raise: Raise) -> Verdict {
        if self.settings.dry_run == DryRun::Client {
            let effect = Effect::WouldRaise {
                from: raise.from,
                to: raise.to,
            };
            return self.tried(&raise, effect);
        }
        self.write(raise).await
    }

    pub(super) fn left(&self, deployment: &Deployment, reason: Reason) -> Verdict {
        Verdict {
            key: deployment.key(),
            uid: Some(deployment.uid().to_owned()),
            reason,
            effect: Effect::None,
            dry_run: self.settings.dry_run,
        }
    }

    pub(super) fn gone(&self, key: &ObjectKey) -> Verdict {
        Verdict {
            key: key.clone(),
            uid: None,
            reason: Reason::NoLongerExists,
            effect: Effect::None,
            dry_run: self.settings.dry_run,
        }
    }

    pub(super) fn tried(&self, raise: &Raise, effect: Effect) -> Verdict {
        Verdict::of(raise, effect, self.settings.dry_run)
    }
}

impl<W: WriteScale> Reconciler for MinReplicas<W> {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Outcome, ReconcileError> {
        let verdict = match self.look(key).await {
            Look::Settled(verdict) => verdict,
            Look::Raise(raise) => match self.attempts.clearance(&raise, Instant::now()) {
                Clearance::Go => self.carry_out(raise).await,
                Clearance::Wait(wait) => {
                    debug!(%key, ?wait, "held back after a failure");
                    return Ok(Outcome::RequeueAfter(wait));
                }
                Clearance::Judged => return Ok(Outcome::Done),
            },
        };
        self.attempts.record(&verdict, Instant::now());
        self.reporter.report(&verdict);
        let judged = is_judged(&verdict);
        match verdict.effect {
            Effect::Failed(failure) if judged => Err(ReconcileError::terminal(failure)),
            Effect::Failed(failure) => Err(ReconcileError::transient(failure)),
            _ => Ok(Outcome::Done),
        }
    }
}
