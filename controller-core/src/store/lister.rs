use std::fmt;
use std::sync::Arc;

use super::index::IndexFunction;
use super::indexer::{CacheCounts, IndexExists, Indexer, UnknownIndex};
use super::select::SelectorOf;
use crate::client::ObjectKey;
use crate::watch::Object;

/// Reads a cache. A clone costs one pointer and sees the same objects.
///
/// What it returns is shared and read-only; taking it costs one reference count. The
/// cache may lag behind the server: decide with it, but guard every write with the
/// `resourceVersion` that was read here.
///
/// ```
/// use controller_core::client::ObjectKey;
/// use controller_core::store::{NAMESPACE_INDEX, cache};
/// use controller_core::watch::WatchEvent;
/// use k8s_openapi::api::core::v1::ConfigMap;
///
/// let (mut writer, lister) = cache::<ConfigMap>(Vec::new());
/// writer.apply(WatchEvent::Added(serde_json::from_str(r#"{"metadata": {
///     "name": "colours", "namespace": "shop", "uid": "u1", "resourceVersion": "4"
/// }}"#)?));
/// assert!(lister.get(&ObjectKey::namespaced("shop", "colours")).is_some());
/// assert_eq!(lister.by_index(NAMESPACE_INDEX, "shop")?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each call sees one state of the cache; two calls may see two. Where several objects have
/// to fit together, take them in one call, or be content to decide anew at the next event,
/// which is on its way if they do not.
///
/// The dangerous mistake is to read an empty cache before it has synced and to take its
/// silence for an answer:
///
/// ```text
/// wrong   tokio::join!(informer.run(…), pool.run())
///         "no autoscaler targets this Deployment", says a cache that is still empty
///
/// right   registration.synced().await, for every kind that a decision looks at;
///         only then pool.run()
/// ```
pub struct Lister<T> {
    indexer: Arc<Indexer<T>>,
}

// === impl Lister ===

impl<T: Object> Lister<T> {
    pub(super) fn new(indexer: Arc<Indexer<T>>) -> Self {
        Self { indexer }
    }

    /// The object with this key, if the cache has it. One look-up in a hash map.
    ///
    /// `None` means that it is not in the *cache*: deleted, out of the selection, or not yet
    /// seen. In a reconciler the answer to all three is the same, unless a person is told
    /// which one it was: then ask the server for this one object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.indexer.get(key)
    }

    /// All objects, in no particular order. Copies one pointer an object, while the writer
    /// waits: not for a loop over ten thousand keys.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.indexer.list()
    }

    /// The objects of `namespace`, or of all namespaces, that `selector` selects, in no
    /// particular order. It looks at each object of the namespace, and copies one pointer for
    /// each that it returns, while the writer waits.
    pub fn select(&self, namespace: Option<&str>, selector: &SelectorOf<T>) -> Vec<Arc<T>> {
        self.indexer
            .filter(namespace, |object| selector.matches(object))
    }

    /// The objects that the index function `index` found `value` for, in no particular order.
    /// It costs what it returns, however many objects there are.
    ///
    /// # Errors
    ///
    /// If no index of that name was registered.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<Arc<T>>, UnknownIndex> {
        self.indexer.by_index(index, value)
    }

    /// Adds an index at any time; it is complete when this returns.
    pub(crate) fn add_index(
        &self,
        name: &'static str,
        function: IndexFunction<T>,
    ) -> Result<(), IndexExists> {
        self.indexer.add_index(name, function)
    }

    /// All values that the index function `index` found for any object.
    ///
    /// # Errors
    ///
    /// If no index of that name was registered.
    pub fn index_values(&self, index: &str) -> Result<Vec<String>, UnknownIndex> {
        self.indexer.index_values(index)
    }

    /// How many objects the cache holds.
    pub fn len(&self) -> usize {
        self.indexer.len()
    }

    /// Whether the cache holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a newer state of this object arrived that could not be read. What
    /// [`get`](Self::get) returns is then the last state that could. A write that is guarded
    /// by its version is refused.
    pub fn is_outdated(&self, key: &ObjectKey) -> bool {
        self.indexer.is_outdated(key)
    }

    /// What was dropped, could not be read, or was replaced.
    pub fn counts(&self) -> &CacheCounts {
        &self.indexer.counts
    }
}

impl<T> Clone for Lister<T> {
    fn clone(&self) -> Self {
        Self {
            indexer: Arc::clone(&self.indexer),
        }
    }
}

impl<T: Object> fmt::Debug for Lister<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lister")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
