use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

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
/// something else, or less, leaves them behind: the index returns an object that is long gone.
/// (What is seen of it is mended: a value under which the object was never put, and a panic.)
pub type IndexFunction<T> = Box<dyn Fn(&T) -> Vec<String> + Send + Sync>;

/// One secondary index: value → objects, kept in step with the cache.
pub(super) struct Index<T> {
    name: &'static str,
    function: IndexFunction<T>,
    /// Never holds an empty map: a value that nobody has any more is removed, or a
    /// cache with ever-changing values would grow for ever (ST-01).
    values: HashMap<String, HashMap<ObjectKey, Arc<T>>>,
    /// The objects on which the function panicked, and which are not in `values`.
    left_out: HashSet<ObjectKey>,
}

// === impl Index ===

impl<T: Object> Index<T> {
    pub(super) fn new(name: &'static str, function: IndexFunction<T>) -> Self {
        Self {
            name,
            function,
            values: HashMap::new(),
            left_out: HashSet::new(),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Replaces `old` by `new`. Returns whether the index function held; if it panicked
    /// on `new` the object is left out of this index.
    pub(super) fn update(
        &mut self,
        key: &ObjectKey,
        old: Option<&Arc<T>>,
        new: Option<&Arc<T>>,
    ) -> bool {
        // Nearly always empty: no hash for every event.
        let was_left_out = !self.left_out.is_empty() && self.left_out.remove(key);
        let old = old.filter(|_| !was_left_out);
        let before = old.map_or(Some(Vec::new()), |old| self.values_of(old));
        let after = new.map_or(Some(Vec::new()), |new| self.values_of(new));
        let held = before.is_some() && after.is_some();
        if after.is_none() {
            self.left_out.insert(key.clone());
        }
        let after = after.unwrap_or_default();
        let mut found = before.is_some();
        for value in before
            .iter()
            .flatten()
            .filter(|value| !after.contains(value))
        {
            found &= self.take_out(key, value);
        }
        if !found {
            self.sweep(key);
        }
        if let Some(new) = new {
            for value in after {
                let objects = self.values.entry(value).or_default();
                objects.insert(key.clone(), Arc::clone(new));
            }
        }
        held
    }

    /// The objects that have `value`.
    pub(super) fn objects(&self, value: &str) -> impl Iterator<Item = &Arc<T>> {
        self.values.get(value).into_iter().flat_map(HashMap::values)
    }

    pub(super) fn value_names(&self) -> Vec<String> {
        self.values.keys().cloned().collect()
    }

    /// Whether it was there.
    fn take_out(&mut self, key: &ObjectKey, value: &str) -> bool {
        let Some(objects) = self.values.get_mut(value) else {
            return false;
        };
        let was_there = objects.remove(key).is_some();
        if objects.is_empty() {
            self.values.remove(value);
        }
        was_there
    }

    /// Takes the object out wherever it is: the function no longer says under which values
    /// it was put in. This looks at every value, once for each object that a function with
    /// a fault is unsure of.
    fn sweep(&mut self, key: &ObjectKey) {
        self.values.retain(|_, objects| {
            objects.remove(key);
            !objects.is_empty()
        });
    }

    /// A panicking index function must not take the cache down with it: the object is
    /// stored all the same, and the failure is counted (BX-15).
    fn values_of(&self, object: &T) -> Option<Vec<String>> {
        let mut values = catch_unwind(AssertUnwindSafe(|| (self.function)(object))).ok()?;
        // A value twice is one entry, which can be taken out once.
        if values.len() > 1 {
            values.sort_unstable();
            values.dedup();
        }
        Some(values)
    }
}
