use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hashbrown::HashMap;
use indexmap::IndexMap;

use crate::client::ObjectKey;
use crate::watch::Object;

/// Computes the values under which an object is found in an index.
///
/// Pure and quick: it runs under the cache's write lock, twice for an update. Several values
/// are allowed; none leaves the object out of this index.
///
/// ```
/// use controller_core::store::{IndexFunction, cache};
/// use controller_core::watch::WatchEvent;
/// use k8s_openapi::api::core::v1::Pod;
///
/// let owners: IndexFunction<Pod> = Box::new(|pod| {
///     let owners = pod.metadata.owner_references.iter().flatten();
///     owners.map(|owner| owner.uid.clone()).collect()
/// });
/// let (mut writer, lister) = cache(vec![("owner", owners)]);
/// writer.apply(WatchEvent::Added(serde_json::from_str(r#"{"metadata": {
///     "name": "web-1", "namespace": "shop", "uid": "p1", "resourceVersion": "4",
///     "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
///                          "name": "web", "uid": "rs1"}]
/// }}"#)?));
/// assert_eq!(lister.by_index("owner", "rs1")?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// One that panics leaves the object out of its index; the object is in the cache all the
/// same, and [`CacheCounts::index_failures`](super::CacheCounts::index_failures) counts it.
/// In client-go it ends the process.
///
/// The dangerous mistake is one that looks at more than the object. When an object goes, its
/// values are computed again to find the entries to remove. A function that by then says
/// something else leaves them behind: the index returns an object that is long gone.
pub type IndexFunction<T> = Box<dyn Fn(&T) -> Vec<String> + Send + Sync>;

/// One secondary index: value → objects, kept in step with the cache.
pub(super) struct Index<T> {
    name: &'static str,
    function: IndexFunction<T>,
    /// Never holds an empty map: a value that nobody has any more is removed, or a
    /// cache with ever-changing values would grow for ever (ST-01).
    values: HashMap<String, IndexMap<ObjectKey, Arc<T>>>,
}

// === impl Index ===

impl<T: Object> Index<T> {
    pub(super) fn new(name: &'static str, function: IndexFunction<T>) -> Self {
        Self {
            name,
            function,
            values: HashMap::new(),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Replaces `old` by `new`. Returns whether the index function held; if it panicked
    /// the object is left out of this index.
    pub(super) fn update(
        &mut self,
        key: &ObjectKey,
        old: Option<&Arc<T>>,
        new: Option<&Arc<T>>,
    ) -> bool {
        let (before, _) = self.values_of(old);
        let (after, held) = self.values_of(new);
        for value in before.iter().filter(|value| !after.contains(value)) {
            if let Some(objects) = self.values.get_mut(value) {
                objects.swap_remove(key);
                if objects.is_empty() {
                    self.values.remove(value);
                }
            }
        }
        if let Some(new) = new {
            for value in after {
                self.values
                    .entry(value)
                    .or_default()
                    .insert(key.clone(), Arc::clone(new));
            }
        }
        held
    }

    /// The objects that have `value`.
    pub(super) fn objects(&self, value: &str) -> impl Iterator<Item = &Arc<T>> {
        self.values
            .get(value)
            .into_iter()
            .flat_map(IndexMap::values)
    }

    pub(super) fn value_names(&self) -> Vec<String> {
        self.values.keys().cloned().collect()
    }

    /// A panicking index function must not take the cache down with it: the object is
    /// stored all the same, and the failure is counted (BX-15).
    fn values_of(&self, object: Option<&Arc<T>>) -> (Vec<String>, bool) {
        let Some(object) = object else {
            return (Vec::new(), true);
        };
        match catch_unwind(AssertUnwindSafe(|| (self.function)(object))) {
            Ok(values) => (values, true),
            Err(_) => (Vec::new(), false),
        }
    }
}
