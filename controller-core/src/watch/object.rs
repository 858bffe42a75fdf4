use serde::de::DeserializeOwned;

use crate::client::ObjectKey;

/// What a watch, a cache and a write need to know of an object, whatever its kind.
///
/// Every `kube::Resource` that can be read from JSON has it already: the types of
/// `k8s-openapi`, `DynamicObject`, derived custom resources. A *projection*, a struct with
/// only the fields that a controller looks at, implements it by hand. That is where most of
/// the memory of a controller is saved: of the 3 KB of JSON that a Deployment often is only
/// the named fields are kept, and the rest is skipped without being stored anywhere.
///
/// ```
/// use controller_core::client::ObjectKey;
/// use controller_core::watch::Object;
///
/// #[derive(serde::Deserialize)]
/// struct Lamp { metadata: Metadata, spec: Spec }
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Metadata { namespace: String, name: String, uid: String, resource_version: String }
///
/// #[derive(serde::Deserialize)]
/// struct Spec { on: bool }
///
/// impl Object for Lamp {
///     fn key(&self) -> ObjectKey {
///         ObjectKey::namespaced(&self.metadata.namespace, &self.metadata.name)
///     }
///     fn uid(&self) -> &str { &self.metadata.uid }
///     fn resource_version(&self) -> &str { &self.metadata.resource_version }
/// }
///
/// let lamp: Lamp = serde_json::from_str(r#"{
///     "kind": "Lamp",
///     "metadata": {"namespace": "hall", "name": "left", "uid": "u1", "resourceVersion": "7",
///                  "managedFields": [{"manager": "kubectl"}]},
///     "spec": {"on": true, "colour": "warm"}
/// }"#)?;
/// assert!(lamp.spec.on);
/// assert_eq!(lamp.key().to_string(), "hall/left");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// [`key`](Self::key) is called several times an event, some of them under the cache's
/// lock. The one above makes two small allocations each time. A projection of a kind with
/// many objects makes its [`ObjectKey`] while it decodes and clones it here, as
/// [`Deployment`](crate::controllers::min_replicas::Deployment) does.
///
/// Which fields to make optional is a decision about safety. A field that is required turns
/// an object without it into an [`Unreadable`](super::Unreadable) one, which is reported and
/// left as it was. A field with a default makes it an object that looks as if somebody had
/// written that value. For what a write is decided by, the first is the better failure.
///
/// The dangerous mistake is to let `uid` or `resource_version` be empty:
///
/// ```
/// # use serde::Deserialize;
/// // Wrong: an object without them is read all the same. A recreated object then looks like
/// // the old one, an old copy like news, and a write is guarded by nothing.
/// #[derive(Deserialize)]
/// #[serde(rename_all = "camelCase", default)]
/// # #[derive(Default)]
/// struct Careless { uid: String, resource_version: String }
///
/// // Right: without them it cannot be read, and somebody is told.
/// #[derive(Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Careful { uid: String, resource_version: String }
///
/// assert!(serde_json::from_str::<Careless>("{}").is_ok());
/// assert!(serde_json::from_str::<Careful>("{}").is_err());
/// ```
///
/// A projection says which labels it keeps, so that a selector which asks for another is
/// refused when it is made and not answered wrongly ever after:
///
/// ```
/// # use controller_core::client::ObjectKey;
/// use controller_core::store::SelectorOf;
/// use controller_core::watch::{KeptLabels, Object};
/// # #[derive(serde::Deserialize)]
/// # struct Lamp { room: Option<String> }
///
/// impl Object for Lamp {
///     const LABELS: KeptLabels = KeptLabels::Only(&["room"]);
///
///     fn label(&self, key: &str) -> Option<&str> {
///         (key == "room").then_some(self.room.as_deref()).flatten()
///     }
/// #   fn key(&self) -> ObjectKey { ObjectKey::cluster("left") }
/// #   fn uid(&self) -> &str { "u1" }
/// #   fn resource_version(&self) -> &str { "7" }
///     // …
/// }
///
/// assert!(SelectorOf::<Lamp>::new("room=hall".parse()?).is_ok());
/// assert!(SelectorOf::<Lamp>::new("floor=1".parse()?).is_err());
/// # Ok::<(), controller_core::watch::SelectorError>(())
/// ```
pub trait Object: DeserializeOwned + Send + Sync + 'static {
    /// Which labels a copy in the cache still has. Every `kube::Resource` has them all; a
    /// projection has none unless it says so.
    const LABELS: KeptLabels = KeptLabels::None;

    /// `namespace/name`, or `name` for a kind without namespaces. The same for as long as
    /// the object lives: the cache files it under this key, and takes an object with an
    /// empty name for one that cannot be read.
    fn key(&self) -> ObjectKey;

    /// `metadata.uid`: another uid under the same name is another object.
    fn uid(&self) -> &str;

    /// `metadata.resourceVersion`: which state of the object this is. Two copies of one
    /// object with the same version are equal, so that the second is dropped unseen.
    fn resource_version(&self) -> &str;

    /// The value of the label `key`. `None` if the object lacks it, and for every key that
    /// is not among [`LABELS`](Self::LABELS).
    fn label(&self, _key: &str) -> Option<&str> {
        None
    }
}

/// Which labels a type keeps of an object: what its copies can be selected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptLabels {
    /// All of them.
    All,
    /// Those with these keys.
    Only(&'static [&'static str]),
    /// None of them.
    None,
}

// === impl Object ===

impl<K> Object for K
where
    K: kube::Resource + DeserializeOwned + Send + Sync + 'static,
{
    const LABELS: KeptLabels = KeptLabels::All;

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

    fn label(&self, key: &str) -> Option<&str> {
        let labels = self.meta().labels.as_ref()?;
        labels.get(key).map(String::as_str)
    }
}

// === impl KeptLabels ===

impl KeptLabels {
    /// Whether the label `key` is kept.
    pub fn keeps(self, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(keys) => keys.contains(&key),
            Self::None => false,
        }
    }
}
