//! What the guard of a write does not cover, and no cache can tell.

use std::sync::Arc;

use super::namespace::Namespace;
use super::observe::{Named, Seen};
use super::raise::{Raise, Through};
use super::reconciler::MinReplicas;
use super::write_loop::Read;
use super::write_scale::WriteScale;
use crate::client::{ApiError, Call, Scope, fetch};
use crate::watch::Object;

// === impl MinReplicas ===

impl<W: WriteScale> MinReplicas<W> {
    /// Looks, just before a write is sent, at what it rests on beside the object that it is
    /// guarded by. `None`: nothing there is against it.
    ///
    /// Costs nothing for a Deployment's own number where the cache has its Namespace.
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

    /// Its Namespace, read live, if namespaces may be read and the cache does not have this
    /// one: two watches have no order between them, and a Deployment can be seen before the
    /// Namespace that was made for it, already paused.
    async fn unknown_namespace(&self, seen: &Seen) -> Result<Option<Arc<Namespace>>, ApiError> {
        let key = seen.deployment.key();
        let (Some(_), Some(name)) = (&self.caches.namespaces, key.namespace()) else {
            return Ok(None);
        };
        if self.namespace_of(&key).is_some() {
            return Ok(None);
        }
        // By a list of one: whoever has the cache may list, but perhaps not get.
        let by_name = [("fieldSelector", format!("metadata.name={name}"))];
        let call = Call::list(&Namespace::RESOURCE, &Scope::All).with_query(by_name);
        let found: Named<Namespace> = fetch(&self.client, call).await?;
        Ok(found.items.into_iter().next().map(Arc::new))
    }
}
