use serde::de::DeserializeOwned;

use crate::client::ObjectKey;

/// What a watch, a cache and a write need to know of an object, whatever its kind.
///
/// Every `kube::Resource` that can be read from JSON has it already: the types of
/// `k8s-openapi`, `DynamicObject`, derived custom resources. A projection, a struct with
/// only the fields that a controller looks at, implements it by hand and saves most of
/// the memory.
///
/// The dangerous mistake is to leave `uid` or `resource_version` empty in a projection:
/// without them a recreated object looks like the old one, and an old copy like news.
pub trait Object: DeserializeOwned + Send + Sync + 'static {
    /// `namespace/name`, or `name` for a kind without namespaces.
    fn key(&self) -> ObjectKey;

    /// `metadata.uid`: another uid under the same name is another object.
    fn uid(&self) -> &str;

    /// `metadata.resourceVersion`.
    fn resource_version(&self) -> &str;
}

// === impl Object ===

impl<K> Object for K
where
    K: kube::Resource + DeserializeOwned + Send + Sync + 'static,
{
    fn key(&self) -> ObjectKey {
        let meta = self.meta();
        let name = meta.name.as_deref().unwrap_or_default();
        match meta.namespace.as_deref() {
            Some(namespace) => ObjectKey::namespaced(namespace, name),
            None => ObjectKey::cluster(name),
        }
    }

    fn uid(&self) -> &str {
        self.meta().uid.as_deref().unwrap_or_default()
    }

    fn resource_version(&self) -> &str {
        self.meta().resource_version.as_deref().unwrap_or_default()
    }
}
