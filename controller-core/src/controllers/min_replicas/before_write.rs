//! What the guard of a write does not cover, and no cache can tell.

use std::sync::Arc;

use super::autoscaler::HorizontalPodAutoscaler;
use super::namespace::Namespace;
use super::observe::{Named, Seen};
use super::raise::{Raise, Through};
use super::reconciler::MinReplicas;
use super::scaled_object::ScaledObject;
use super::write_loop::Read;
use super::write_scale::WriteScale;
use crate::client::{ApiError, Call, ObjectKey, Scope, fetch};
use crate::store::{Lister, Quarantined};
use crate::watch::Object;

// === impl MinReplicas ===

impl<W: WriteScale> MinReplicas<W> {
    /// Looks, just before a write is sent, at what it rests on beside the object that it is
    /// guarded by. `None`: nothing there is against it.
    ///
    /// Costs nothing for a Deployment's own number where the caches could read its Namespace
    /// and all autoscalers beside it.
    pub(super) async fn overtaken(&self, seen: &Seen, raise: &Raise) -> Option<Read> {
        match self.unknown_namespace(seen).await {
            Ok(Some(namespace)) if namespace.is_paused() => {
                return Some(Read::seen(Seen {
                    namespace: Some(namespace),
                    ..seen.clone()
                }));
            }
            Ok(_) => {}
            Err(error) => return Some(Read::Unread(error)),
        }
        match self.hidden_scalers(seen).await {
            Ok(None) => {}
            Ok(Some(known)) => return Some(Read::seen(known)),
            Err(error) => return Some(Read::Unread(error)),
        }
        self.changed_deployment(seen, raise).await
    }

    /// The Deployment, if its autoscaler is about to be written to, and it is not the one any
    /// more that was looked at.
    ///
    /// The server compares what the write names, and that is the autoscaler: an opt-out that
    /// the cache has not seen would not stop it. Autoscalers are raised once in their lives,
    /// so that a GET each is cheap.
    async fn changed_deployment(&self, seen: &Seen, raise: &Raise) -> Option<Read> {
        if raise.through == Through::Scale || seen.is_live {
            return None;
        }
        match self.read_live(&raise.key).await {
            Ok(Some(live)) => {
                let looked_at = (&*raise.uid, &*raise.resource_version);
                let same = (live.uid(), live.resource_version()) == looked_at;
                (!same).then(|| Read::seen(Seen::live(live)))
            }
            Ok(None) => Some(Read::Gone),
            Err(error) => Some(Read::Unread(error)),
        }
    }

    /// The Deployment with its autoscalers and ScaledObjects read live, where the cache knows of
    /// one in its namespace that could not be read, or cannot tell whether there is one: its target
    /// may be this very Deployment, and an autoscaler that is not seen is one that is fought.
    ///
    /// An error, and so no raise, as long as the server's answer cannot be read either.
    async fn hidden_scalers(&self, seen: &Seen) -> Result<Option<Seen>, ApiError> {
        let (key, caches) = (seen.deployment.key(), &self.caches);
        let autoscalers = match &caches.autoscalers {
            Some(cache) if seen.autoscalers.is_none() && hides_one(cache, &key) => {
                let (resource, target) = (
                    &HorizontalPodAutoscaler::RESOURCE,
                    HorizontalPodAutoscaler::target,
                );
                Some(self.read_targeting(resource, target, &key).await?)
            }
            _ => None,
        };
        let scaled_objects = match &caches.scaled_objects {
            Some(cache) if seen.scaled_objects.is_none() && hides_one(cache, &key) => {
                let (resource, target) = (&ScaledObject::RESOURCE, ScaledObject::target);
                Some(self.read_targeting(resource, target, &key).await?)
            }
            _ => None,
        };
        if autoscalers.is_none() && scaled_objects.is_none() {
            return Ok(None);
        }
        Ok(Some(Seen {
            autoscalers: autoscalers.or_else(|| seen.autoscalers.clone()),
            scaled_objects: scaled_objects.or_else(|| seen.scaled_objects.clone()),
            ..seen.clone()
        }))
    }

    /// Its Namespace, read live, if namespaces may be read and the cache does not have this
    /// one, or could not read its newest state: two watches have no order between them, and
    /// a Deployment can be seen before the Namespace that was made for it, already paused.
    async fn unknown_namespace(&self, seen: &Seen) -> Result<Option<Arc<Namespace>>, ApiError> {
        let key = seen.deployment.key();
        let (Some(namespaces), Some(name)) = (&self.caches.namespaces, key.namespace()) else {
            return Ok(None);
        };
        if self.namespace_of(&key).is_some() && !namespaces.is_outdated(&ObjectKey::cluster(name)) {
            return Ok(None);
        }
        // By a list of one: whoever has the cache may list, but perhaps not get.
        let by_name = [("fieldSelector", format!("metadata.name={name}"))];
        let call = Call::list(&Namespace::RESOURCE, &Scope::All).with_query(by_name);
        let found: Named<Namespace> = fetch(&self.client, call).await?;
        Ok(found.items.into_iter().next().map(Arc::new))
    }
}

/// Whether there is, or may be, an object in the namespace of `key` that could not be read.
fn hides_one<T: Object>(cache: &Lister<T>, key: &ObjectKey) -> bool {
    let beside = |hidden: &Quarantined| hidden.key.namespace() == key.namespace();
    // Nearly always none: no list is made for that.
    cache.hides_objects() || cache.quarantined() > 0 && cache.quarantine().iter().any(beside)
}
