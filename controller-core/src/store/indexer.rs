use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::{HashMap, HashSet};
use parking_lot::RwLock;

use super::index::{Index, IndexFunction};
use crate::client::ObjectKey;
use crate::watch::Object;

/// The index by namespace that every cache has; for a kind without namespaces it is empty.
pub const NAMESPACE_INDEX: &str = "namespace";

/// An index was asked for that was never registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("index with name {0} does not exist")]
pub struct UnknownIndex(pub String);

/// An index of that name is there already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("index with name {0} exists already")]
pub struct IndexExists(pub &'static str);

/// What happened to a cache that nobody asked for; all counts only grow.
///
/// None of it stops anything, which is why it is counted: a number that grows steadily
/// points at something outside. `stale` at API servers that lag, `unreadable` at objects
/// that the type cannot be read from, `index_failures` at a bug in an index function.
#[derive(Debug, Default)]
pub struct CacheCounts {
    pub(super) stale: AtomicU64,
    pub(super) unreadable: AtomicU64,
    pub(super) index_failures: AtomicU64,
    pub(super) restored: AtomicU64,
}

/// The cache itself: objects by key, and the indexes over them.
///
/// One [`CacheWriter`](super::CacheWriter) changes it, any number of
/// [`Lister`](super::Lister)s read it. Not public: whoever could write beside the writer
/// would break its promise of one `Deleted` for each object that vanishes.
pub(super) struct Indexer<T> {
    state: RwLock<State<T>>,
    pub(super) counts: CacheCounts,
}

struct State<T> {
    /// The truth; the two below are about it, and change with it under the same lock.
    objects: HashMap<ObjectKey, Arc<T>>,
    /// Keys whose newest state could not be read: their copy is an older one. Only keys that
    /// are in `objects`.
    outdated: HashSet<ObjectKey>,
    /// Few, so that a list is quicker than a map. The namespace index comes first.
    indexes: Vec<Index<T>>,
}

/// One change of the cache, applied under one write lock with others.
pub(super) enum Change<T> {
    Put(ObjectKey, Arc<T>),
    Remove(ObjectKey),
    MarkOutdated(ObjectKey),
}

// === impl CacheCounts ===

impl CacheCounts {
    /// Copies that were dropped because a newer one was already known.
    pub fn stale(&self) -> u64 {
        self.stale.load(Ordering::Relaxed)
    }

    /// List items and watch lines that could not be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// Calls of an index function that panicked.
    pub fn index_failures(&self) -> u64 {
        self.index_failures.load(Ordering::Relaxed)
    }

    /// How often the cache was replaced by one of a lower resource version, because the
    /// server's history had started anew.
    pub fn restored(&self) -> u64 {
        self.restored.load(Ordering::Relaxed)
    }

    pub(super) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

// === impl Indexer ===

impl<T: Object> Indexer<T> {
    pub(super) fn new(functions: Vec<(&'static str, IndexFunction<T>)>) -> Self {
        let by_namespace: IndexFunction<T> = Box::new(|object| {
            object
                .key()
                .namespace()
                .map(str::to_owned)
                .into_iter()
                .collect()
        });
        let mut indexes = vec![Index::new(NAMESPACE_INDEX, by_namespace)];
        for (name, function) in functions {
            // The last registration of a name wins, as a map's would.
            indexes.retain(|index| index.name() != name);
            indexes.push(Index::new(name, function));
        }
        Self {
            state: RwLock::new(State {
                objects: HashMap::new(),
                outdated: HashSet::new(),
                indexes,
            }),
            counts: CacheCounts::default(),
        }
    }

    /// Adds an index over what the cache holds now and will hold.
    pub(super) fn add_index(
        &self,
        name: &'static str,
        function: IndexFunction<T>,
    ) -> Result<(), IndexExists> {
        let mut state = self.state.write();
        if state.indexes.iter().any(|index| index.name() == name) {
            return Err(IndexExists(name));
        }
        let mut index = Index::new(name, function);
        for (key, object) in &state.objects {
            if !index.update(key, None, Some(object)) {
                self.failed(key, name);
            }
        }
        state.indexes.push(index);
        Ok(())
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.state.read().objects.get(key).cloned()
    }

    pub(super) fn list(&self) -> Vec<Arc<T>> {
        self.state.read().objects.values().cloned().collect()
    }

    /// The objects of one namespace, or all, for which `wanted` holds.
    pub(super) fn filter(
        &self,
        namespace: Option<&str>,
        wanted: impl Fn(&T) -> bool,
    ) -> Vec<Arc<T>> {
        fn copies<'a, T: 'a>(
            objects: impl Iterator<Item = &'a Arc<T>>,
            wanted: impl Fn(&T) -> bool,
        ) -> Vec<Arc<T>> {
            objects.filter(|object| wanted(object)).cloned().collect()
        }
        let state = self.state.read();
        match namespace {
            // The namespace index comes first.
            Some(namespace) => copies(state.indexes[0].objects(namespace), wanted),
            None => copies(state.objects.values(), wanted),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.state.read().objects.len()
    }

    pub(super) fn is_outdated(&self, key: &ObjectKey) -> bool {
        self.state.read().outdated.contains(key)
    }

    pub(super) fn by_index(&self, name: &str, value: &str) -> Result<Vec<Arc<T>>, UnknownIndex> {
        self.with_index(name, |index| index.objects(value).cloned().collect())
    }

    pub(super) fn index_values(&self, name: &str) -> Result<Vec<String>, UnknownIndex> {
        self.with_index(name, Index::value_names)
    }

    /// Applies all changes under one lock, so that no reader sees half of a relist.
    pub(super) fn apply(&self, changes: impl IntoIterator<Item = Change<T>>) {
        let mut state = self.state.write();
        for change in changes {
            match change {
                Change::Put(key, object) => {
                    state.outdated.remove(&key);
                    let old = state.objects.insert(key.clone(), Arc::clone(&object));
                    self.reindex(&mut state, &key, old.as_ref(), Some(&object));
                }
                Change::Remove(key) => {
                    state.outdated.remove(&key);
                    let old = state.objects.remove(&key);
                    self.reindex(&mut state, &key, old.as_ref(), None);
                }
                Change::MarkOutdated(key) => {
                    if state.objects.contains_key(&key) {
                        state.outdated.insert(key);
                    }
                }
            }
        }
    }

    fn with_index<R>(
        &self,
        name: &str,
        read: impl FnOnce(&Index<T>) -> R,
    ) -> Result<R, UnknownIndex> {
        let state = self.state.read();
        let index = state.indexes.iter().find(|index| index.name() == name);
        index.map(read).ok_or_else(|| UnknownIndex(name.to_owned()))
    }

    fn reindex(
        &self,
        state: &mut State<T>,
        key: &ObjectKey,
        old: Option<&Arc<T>>,
        new: Option<&Arc<T>>,
    ) {
        for index in &mut state.indexes {
            if !index.update(key, old, new) {
                self.failed(key, index.name());
            }
        }
    }

    fn failed(&self, key: &ObjectKey, index: &'static str) {
        CacheCounts::count(&self.counts.index_failures);
        tracing::warn!(%key, index, "index function panicked");
    }
}
