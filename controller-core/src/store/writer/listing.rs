use std::sync::Arc;

use hashbrown::HashMap;
use indexmap::IndexMap;

use crate::client::ObjectKey;
use crate::store::indexer::Indexer;
use crate::watch::{News, Object, is_older};

/// What a list has brought so far.
pub(super) struct Listing<T> {
    /// Nothing may be taken for known by its version: see
    /// [`WatchEvent::ListStarted`](crate::watch::WatchEvent::ListStarted).
    fresh: bool,
    pub(super) objects: IndexMap<ObjectKey, Arc<T>>,
    /// Keys whose item could not be read: they exist, so they are no tombstones.
    /// With the version of what could not be read, empty if unknown.
    pub(super) unreadable: HashMap<ObjectKey, Box<str>>,
    /// Some item did not even yield its key: nothing may be said to be gone.
    pub(super) keyless: bool,
    /// The keys of items that were older than what the cache has: see `Contradiction`.
    pub(super) older: Vec<ObjectKey>,
}

// === impl Listing ===

impl<T: Object> Listing<T> {
    pub(super) fn new(fresh: bool) -> Self {
        Self {
            fresh,
            objects: IndexMap::new(),
            unreadable: HashMap::new(),
            keyless: false,
            older: Vec::new(),
        }
    }

    /// A list that was paged over a moving history may bring an object twice: the newer
    /// copy counts.
    ///
    /// An unchanged object is let go at once in favour of the copy that the cache has, so
    /// that a relist costs the memory of its changes only.
    pub(super) fn take(&mut self, object: T, cache: &Indexer<T>) {
        let key = object.key();
        let older = self
            .objects
            .get(&key)
            .is_some_and(|known| is_older(object.resource_version(), known.resource_version()));
        if older {
            return;
        }
        let known = cache.comparable(&key);
        if let Some(known) = &known
            && is_older(object.resource_version(), known.resource_version())
        {
            self.older.push(key.clone());
        }
        let known = known.filter(|known| {
            !self.fresh
                && known.uid() == object.uid()
                && known.resource_version() == object.resource_version()
        });
        let object = known.unwrap_or_else(|| Arc::new(object));
        self.objects.insert(key, object);
    }

    /// Something could not be read.
    pub(super) fn miss(&mut self, key: Option<ObjectKey>, version: &str, during: News) {
        match (key, during) {
            (Some(key), News::Deleted) => self.take_back(&key),
            // It may come twice, as what can be read: the newer copy counts, and a version
            // that is known.
            (Some(key), _) => {
                let known = self.unreadable.entry(key).or_default();
                if !version.is_empty() && !is_older(version, known) {
                    *known = version.into();
                }
            }
            (None, _) => self.keyless = true,
        }
    }

    /// The version at which the list has this key: of the newest copy, readable or not.
    pub(super) fn version(&self, key: &ObjectKey) -> Option<&str> {
        let object = self
            .objects
            .get(key)
            .map(|object| object.resource_version());
        let unreadable = self.unreadable.get(key).map(|version| &**version);
        match (object, unreadable) {
            (Some(object), Some(unreadable)) if is_older(object, unreadable) => Some(unreadable),
            (Some(version), _) | (None, Some(version)) => Some(version),
            (None, None) => None,
        }
    }

    /// The object went while the list was under way.
    pub(super) fn take_back(&mut self, key: &ObjectKey) {
        self.objects.shift_remove(key);
        self.unreadable.remove(key);
    }
}
