//! What a decision rests on: the caches, and what was read live.

use std::sync::Arc;

use tokio::time::Instant;

use super::autoscaler::HorizontalPodAutoscaler;
use super::deployment::Deployment;
use super::namespace::Namespace;
use super::opponent::{FieldOwners, Opponent};
use super::pacing::Pacing;
use super::plan::{Observed, Plan, plan};
use super::reason::Reason;
use super::reconciler::MinReplicas;
use super::scaled_object::ScaledObject;
use super::targets::TARGET_INDEX;
use super::write_scale::{FIELD_MANAGER, WriteScale};
use crate::client::{ApiError, Call, ObjectKey, ResourceType, Scope, fetch};
use crate::store::Lister;
use crate::watch::Object;

/// One Deployment as a decision sees it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) deployment: Arc<Deployment>,
    /// Whether it was read from the server for this very decision.
    pub(super) is_live: bool,
    /// All autoscalers that target it, if that is known better than by the cache.
    pub(super) autoscalers: Option<Vec<Arc<HorizontalPodAutoscaler>>>,
    /// All ScaledObjects that target it, if that is known better than by the cache.
    pub(super) scaled_objects: Option<Vec<Arc<ScaledObject>>>,
    /// Its Namespace, if the cache did not have it, or only an old copy.
    pub(super) namespace: Option<Arc<Namespace>>,
}

/// What a live look at the autoscaler that was written to brought.
pub(super) struct LiveAutoscalers {
    /// That one; `None`: the server has it no more.
    pub(super) written: Option<Arc<HorizontalPodAutoscaler>>,
    /// All that target the Deployment.
    pub(super) of_deployment: Vec<Arc<HorizontalPodAutoscaler>>,
}

/// As much of a list as is read of it.
#[derive(serde::Deserialize)]
pub(super) struct Named<T> {
    pub(super) items: Vec<T>,
}

// === impl Seen ===

impl From<Arc<Deployment>> for Seen {
    fn from(deployment: Arc<Deployment>) -> Self {
        Self {
            deployment,
            is_live: false,
            autoscalers: None,
            scaled_objects: None,
            namespace: None,
        }
    }
}

impl Seen {
    /// Read a moment ago.
    pub(super) fn live(deployment: Arc<Deployment>) -> Self {
        Self {
            is_live: true,
            ..deployment.into()
        }
    }
}

// === impl MinReplicas ===

impl<W: WriteScale> MinReplicas<W> {
    /// Decides. `pacing`: what a loop has to respect, and a single pass has not.
    pub(super) fn plan_for(&self, seen: &Seen, pacing: Option<&Pacing>) -> Plan {
        let (key, uid) = (seen.deployment.key(), seen.deployment.uid());
        let holding = pacing.and_then(|pacing| pacing.holding(&key, uid, Instant::now()));
        self.observed(seen, |observed| {
            let fight = holding.as_ref().map(|holding| &holding.hold);
            plan(&Observed { fight, ..observed }, &self.settings)
        })
    }

    /// Decides, and finds out with whom we fight, if we do and nobody has asked yet: once a
    /// round, for the key may be woken many times a second, and an answer costs more than a
    /// decision.
    pub(super) async fn decide(&self, seen: &Seen, pacing: Option<&Pacing>) -> Plan {
        let decided = self.plan_for(seen, pacing);
        let (Some(pacing), Plan::Leave(Reason::Fight { autoscaler, .. })) = (pacing, &decided)
        else {
            return decided;
        };
        let (key, uid) = (seen.deployment.key(), seen.deployment.uid());
        let holding = pacing.holding(&key, uid, Instant::now());
        if holding.is_none_or(|holding| holding.looked) {
            return decided;
        }
        // Before it is asked: a call that is dropped meanwhile has asked, too.
        pacing.name_opponent(&key, uid, Opponent::Unknown);
        let owner = match autoscaler {
            None => self.owner_of_replicas(&key).await,
            Some(name) => self.owner_of_min_replicas(&key, name).await,
        };
        match owner {
            Ok(opponent) => pacing.name_opponent(&key, uid, opponent),
            // Not worth more than this: the fight is told without a name, and the next round
            // asks again.
            Err(error) => tracing::debug!(%key, %error, "nobody knows who lowers it"),
        }
        self.plan_for(seen, Some(pacing))
    }

    /// Collects all that there is to know beside the Deployment.
    pub(super) fn observed<T>(&self, seen: &Seen, use_it: impl FnOnce(Observed<'_>) -> T) -> T {
        let key = seen.deployment.key();
        let read = seen.namespace.clone();
        let namespace = read.or_else(|| self.namespace_of(&key));
        let autoscalers = match &seen.autoscalers {
            Some(known) => known.clone(),
            None => self.autoscalers_of(&key),
        };
        let scaled_objects = match &seen.scaled_objects {
            Some(known) => known.clone(),
            None => self.scaled_objects_of(&key),
        };
        use_it(Observed {
            namespace: namespace.as_deref(),
            autoscalers: &autoscalers,
            scaled_objects: &scaled_objects,
            ..Observed::new(&seen.deployment)
        })
    }

    pub(super) fn namespace_of(&self, key: &ObjectKey) -> Option<Arc<Namespace>> {
        let namespaces = self.caches.namespaces.as_ref()?;
        namespaces.get(&ObjectKey::cluster(key.namespace()?))
    }

    fn autoscalers_of(&self, key: &ObjectKey) -> Vec<Arc<HorizontalPodAutoscaler>> {
        cached_targeting(self.caches.autoscalers.as_ref(), key)
    }

    fn scaled_objects_of(&self, key: &ObjectKey) -> Vec<Arc<ScaledObject>> {
        cached_targeting(self.caches.scaled_objects.as_ref(), key)
    }

    /// Reads the object from the server, `None` if the server has none of that name.
    pub(super) async fn read_live(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<Deployment>>, ApiError> {
        match fetch(&self.client, Call::get(&Deployment::RESOURCE, key)).await {
            Ok(deployment) => Ok(Some(Arc::new(deployment))),
            // Not a gateway's 404: that one knows nothing of Deployments.
            Err(ApiError::NotFound(answer)) if answer.from_api => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the autoscaler of this name from the server, for the Deployment `key`: by a list
    /// of one, for which the permission to list is enough.
    ///
    /// If it is gone, or targets another one, then something may have taken its place that
    /// the cache has not heard of: so all of the namespace are read. That is seldom.
    pub(super) async fn read_autoscalers(
        &self,
        key: &ObjectKey,
        name: &str,
    ) -> Result<LiveAutoscalers, ApiError> {
        type List = Named<HorizontalPodAutoscaler>;
        let list: List = fetch(&self.client, list_of_one(&beside(key, name))).await?;
        let written = list.items.into_iter().next().map(Arc::new);
        let of_deployment = match &written {
            Some(still) if still.target().as_ref() == Some(key) => {
                let mut all = self.autoscalers_of(key);
                all.retain(|it| it.key() != still.key());
                all.push(Arc::clone(still));
                all
            }
            _ => {
                let (resource, target) = (
                    &HorizontalPodAutoscaler::RESOURCE,
                    HorizontalPodAutoscaler::target,
                );
                self.read_targeting(resource, target, key).await?
            }
        };
        Ok(LiveAutoscalers {
            written,
            of_deployment,
        })
    }

    /// Reads all of the namespace from the server, and keeps those whose `target` is `key`.
    pub(super) async fn read_targeting<T: Object>(
        &self,
        resource: &ResourceType,
        target: fn(&T) -> Option<ObjectKey>,
        key: &ObjectKey,
    ) -> Result<Vec<Arc<T>>, ApiError> {
        let list: Named<T> = fetch(&self.client, list_beside(resource, key)).await?;
        let targeting = list.items.into_iter();
        let targeting = targeting.filter(|it| target(it).as_ref() == Some(key));
        Ok(targeting.map(Arc::new).collect())
    }

    async fn owner_of_replicas(&self, key: &ObjectKey) -> Result<Opponent, ApiError> {
        let call = Call::get(&Deployment::RESOURCE, key);
        let owners: FieldOwners = fetch(&self.client, call).await?;
        Ok(owners.of_spec("replicas", FIELD_MANAGER))
    }

    async fn owner_of_min_replicas(
        &self,
        deployment: &ObjectKey,
        autoscaler: &str,
    ) -> Result<Opponent, ApiError> {
        let call = list_of_one(&beside(deployment, autoscaler));
        let owners: Named<FieldOwners> = fetch(&self.client, call).await?;
        let owners = owners.items.first();
        Ok(owners.map_or(Opponent::Nobody, |it| {
            it.of_spec("minReplicas", FIELD_MANAGER)
        }))
    }
}

/// The key of an object of another kind in the same namespace.
pub(super) fn beside(key: &ObjectKey, name: &str) -> ObjectKey {
    ObjectKey::namespaced(key.namespace().unwrap_or_default(), name)
}

/// Those of a kind that target the Deployment, as far as the cache knows.
fn cached_targeting<T: Object>(cache: Option<&Lister<T>>, key: &ObjectKey) -> Vec<Arc<T>> {
    let Some(cache) = cache else {
        return Vec::new();
    };
    cache
        .by_index(TARGET_INDEX, &key.to_string())
        .expect("invariant: the index was asked for when the controller was made")
}

/// All objects of a kind in the namespace.
fn list_beside(resource: &ResourceType, key: &ObjectKey) -> Call {
    let scope = Scope::Namespace(key.namespace().unwrap_or_default().to_owned());
    Call::list(resource, &scope)
}

fn list_of_one(key: &ObjectKey) -> Call {
    let name = format!("metadata.name={}", key.name());
    list_beside(&HorizontalPodAutoscaler::RESOURCE, key).with_query([("fieldSelector", name)])
}
