use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::counts::CacheCounts;
use super::index::{Index, IndexFunction};
use super::position::Position;
use super::quarantine::Quarantine;
use super::snapshot::Snapshot;
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

/// The cache itself: objects by key, and the indexes over them.
///
/// One [`CacheWriter`](super::CacheWriter) changes it, any number of
/// [`Lister`](super::Lister)s read it. Not public: whoever could write beside the writer
/// would break its promise of one `Deleted` for each object that vanishes.
pub(super) struct Indexer<T> {
    state: RwLock<State<T>>,
    /// Told when the position has moved.
    moved: Notify,
    pub(super) counts: CacheCounts,
}

struct State<T> {
    /// The truth; the others are about it, and change with it under the same lock.
    objects: HashMap<ObjectKey, Arc<T>>,
    quarantine: Quarantine,
    /// Few, so that a list is quicker than a map. The namespace index comes first.
    indexes: Vec<Index<T>>,
    position: Position,
    /// The last snapshot, for as long as it shows what there is. A lock of its own, so that
    /// who only reads can leave one here.
    snapshot: Mutex<Option<Arc<Vec<Arc<T>>>>>,
}

/// The cache under its write lock: all that is done with one is one step to every reader.
pub(super) struct Writing<'a, T> {
    state: &'a mut State<T>,
    counts: &'a CacheCounts,
    /// Whether an object came or went.
    changed: bool,
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
                quarantine: Quarantine::default(),
                indexes,
                position: Position::default(),
                snapshot: Mutex::default(),
            }),
            moved: Notify::new(),
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
                failed(&self.counts, key, name);
            }
        }
        state.indexes.push(index);
        Ok(())
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.state.read().objects.get(key).cloned()
    }

    /// The copy of `key` with which a new one is to be compared: not the one of a history
    /// that has ended, since anything else replaces that.
    pub(super) fn comparable(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.state.read().comparable(key).cloned()
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
        let state = self.state.read();
        state.quarantine.contains(key) && state.objects.contains_key(key)
    }

    /// Reads the quarantine; the second argument says whether the cache has a key.
    pub(super) fn quarantine<R>(
        &self,
        read: impl FnOnce(&Quarantine, &dyn Fn(&ObjectKey) -> bool) -> R,
    ) -> R {
        let state = self.state.read();
        read(&state.quarantine, &|key| state.objects.contains_key(key))
    }

    pub(super) fn by_index(&self, name: &str, value: &str) -> Result<Vec<Arc<T>>, UnknownIndex> {
        self.with_index(name, |index| index.objects(value).cloned().collect())
    }

    pub(super) fn index_values(&self, name: &str) -> Result<Vec<String>, UnknownIndex> {
        self.with_index(name, Index::value_names)
    }

    pub(super) fn snapshot(&self) -> Snapshot<T> {
        let state = self.state.read();
        let mut kept = state.snapshot.lock();
        let objects =
            kept.get_or_insert_with(|| Arc::new(state.objects.values().cloned().collect()));
        Snapshot::new(Arc::clone(objects), state.position.version())
    }

    /// Reads where in the server's history the cache is.
    pub(super) fn at<R>(&self, read: impl FnOnce(&Position) -> R) -> R {
        read(&self.state.read().position)
    }

    /// Ends when the position has moved after this call.
    pub(super) fn moved(&self) -> Notified<'_> {
        self.moved.notified()
    }

    /// Changes the cache in one step: no reader sees half of it.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut Writing<'_, T>) -> R) -> R {
        let mut state = self.state.write();
        let mut writing = Writing {
            state: &mut state,
            counts: &self.counts,
            changed: false,
        };
        let result = change(&mut writing);
        let outlived = if writing.changed {
            state.snapshot.get_mut().take()
        } else {
            None
        };
        drop(state);
        self.moved.notify_waiters();
        // Without the lock: it may be the last owner of many objects.
        drop(outlived);
        result
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
}

// === impl State ===

impl<T> State<T> {
    fn comparable(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        let outlived = self.quarantine.has_outlived(key);
        self.objects.get(key).filter(|_| !outlived)
    }
}

// === impl Writing ===

impl<T: Object> Writing<'_, T> {
    pub(super) fn position(&mut self) -> &mut Position {
        &mut self.state.position
    }

    /// The highest version that is known.
    pub(super) fn version(&self) -> Option<&str> {
        self.state.position.version()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.state.objects.keys()
    }

    /// Makes room for `objects` objects in all, so that a first list grows the map once.
    pub(super) fn reserve(&mut self, objects: usize) {
        let known = self.state.objects.len();
        self.state.objects.reserve(objects.saturating_sub(known));
    }

    /// Returns what was there.
    pub(super) fn put(&mut self, key: &ObjectKey, object: &Arc<T>) -> Option<Arc<T>> {
        let old = self.state.objects.insert(key.clone(), Arc::clone(object));
        self.reindex(key, old.as_ref(), Some(object));
        old
    }

    /// Returns what was there.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<T>> {
        self.state.quarantine.forget(key);
        let old = self.state.objects.remove(key)?;
        self.reindex(key, Some(&old), None);
        Some(old)
    }

    pub(super) fn quarantine(&mut self) -> &mut Quarantine {
        &mut self.state.quarantine
    }

    /// As [`Indexer::comparable`].
    pub(super) fn comparable(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.state.comparable(key)
    }

    /// The versions of the states that could not be read.
    pub(super) fn quarantined(&self) -> &Quarantine {
        &self.state.quarantine
    }

    fn reindex(&mut self, key: &ObjectKey, old: Option<&Arc<T>>, new: Option<&Arc<T>>) {
        self.changed = true;
        for index in &mut self.state.indexes {
            if !index.update(key, old, new) {
                failed(self.counts, key, index.name());
            }
        }
    }
}

fn failed(counts: &CacheCounts, key: &ObjectKey, index: &'static str) {
    CacheCounts::count(&counts.index_failures);
    tracing::warn!(%key, index, "index function panicked");
}
