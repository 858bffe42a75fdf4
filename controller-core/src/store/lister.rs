use std::fmt;
use std::sync::Arc;

use super::index::IndexFunction;
use super::indexer::{CacheCounts, IndexExists, Indexer, UnknownIndex};
use crate::client::ObjectKey;
use crate::watch::Object;

/// Reads a cache. A clone costs one pointer and sees the same objects.
///
/// What it returns is shared and read-only; taking it costs one reference count. The
/// cache may lag behind the server: decide with it, but guard every write with the
/// `resourceVersion` that was read here.
///
/// The dangerous mistake is to read an empty cache before it has synced and to take its
/// silence for an answer.
pub struct Lister<T> {
    indexer: Arc<Indexer<T>>,
}

// === impl Lister ===

impl<T: Object> Lister<T> {
    pub(super) fn new(indexer: Arc<Indexer<T>>) -> Self {
        Self { indexer }
    }

    /// The object with this key, if the cache has it.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.indexer.get(key)
    }

    /// All objects, in no particular order.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.indexer.list()
    }

    /// The objects that the index function `index` found `value` for.
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

    /// Whether a newer state of this object arrived that could not be read.
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
