//! What the guard of a write does not cover, and no cache can tell.

use std::sync::Arc;

use super::namespace::Namespace;
use super::observe::{Named, Seen};
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
    /// Costs nothing where the caches have everything.
    pub(super) async fn overtaken(&self, seen: &Seen) -> Option<Read> {
        match self.unknown_namespace(seen).await {
            Ok(Some(namespace)) if namespace.is_paused() => Some(Read::Seen(Seen {
                namespace: Some(namespace),
                ..seen.clone()
            })),
            Ok(_) => None,
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
