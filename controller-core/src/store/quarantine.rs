use hashbrown::HashMap;

use crate::client::ObjectKey;
use crate::watch::is_older;

/// An object whose newest state could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// Its key.
    pub key: ObjectKey,
    /// The version of what could not be read. `None` if not even that could, or if a list
    /// hid which of its objects it was: then all that the list did not bring are here.
    pub resource_version: Option<String>,
    /// Whether the cache still has an older copy, which [`Lister::get`](super::Lister::get)
    /// returns. Without one, nothing in this process knows the object.
    pub has_older_copy: bool,
}

/// The keys of all objects whose newest state could not be read, in the cache or not, each
/// with that state's version, which is empty if unknown.
///
/// A key leaves when a state that is not older is read, when the object is deleted, and when
/// a complete list does not bring it.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    held: HashMap<ObjectKey, Held>,
    /// The last complete list, or a line since, hid even whose it was.
    hides_keys: bool,
}

#[derive(Debug, Default)]
struct Held {
    version: Box<str>,
    /// The cache's copy is of a history that has ended: its version does not compare with
    /// any that comes.
    outlived: bool,
}

// === impl Quarantine ===

impl Quarantine {
    /// A state at `version` could not be read.
    pub(super) fn hold(&mut self, key: ObjectKey, version: &str) {
        let held = self.held.entry(key).or_default();
        // One that is known says more than none.
        if !version.is_empty() {
            held.version = version.into();
        }
    }

    /// A list is complete. `hides_keys` if it hid of an object even which one it is.
    pub(super) fn listed(&mut self, hides_keys: bool) {
        self.hides_keys = hides_keys;
    }

    /// A line hid of an object even which one it is.
    pub(super) fn hide(&mut self) {
        self.hides_keys = true;
    }

    pub(super) fn hides_keys(&self) -> bool {
        self.hides_keys
    }

    /// A list that hid one of its objects did not bring this one.
    pub(super) fn suspect(&mut self, key: ObjectKey) {
        self.held.entry(key).or_default();
    }

    /// The server's history started anew while what the cache has of these keys is of the old
    /// one.
    pub(super) fn outlive(&mut self) {
        for held in self.held.values_mut() {
            held.outlived = true;
        }
    }

    /// Whether the cache's copy is of a history that has ended, so that every other one
    /// counts.
    pub(super) fn has_outlived(&self, key: &ObjectKey) -> bool {
        !self.held.is_empty() && self.held.get(key).is_some_and(|held| held.outlived)
    }

    /// The versions of the states that could not be read, empty where unknown, without those of
    /// a history that has ended.
    pub(super) fn comparable(&self) -> impl Iterator<Item = (&ObjectKey, &str)> {
        let comparable = self.held.iter().filter(|(_, held)| !held.outlived);
        comparable.map(|(key, held)| (key, &*held.version))
    }

    /// A state at `version` was read. An older one proves nothing.
    pub(super) fn read(&mut self, key: &ObjectKey, version: &str) {
        // Nearly always empty: no hash for every event.
        if self.held.is_empty() {
            return;
        }
        let Some(held) = self.held.get_mut(key) else {
            return;
        };
        // The copy that the cache has from now on.
        held.outlived = false;
        if !is_older(version, &held.version) {
            self.held.remove(key);
        }
    }

    /// The object is gone.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        if !self.held.is_empty() {
            self.held.remove(key);
        }
    }

    pub(super) fn retain(&mut self, there: impl Fn(&ObjectKey) -> bool) {
        self.held.retain(|key, _| there(key));
    }

    /// Versions of another history mean nothing any more.
    pub(super) fn clear(&mut self) {
        self.held.clear();
    }

    pub(super) fn contains(&self, key: &ObjectKey) -> bool {
        self.held.contains_key(key)
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// All of them, sorted by key.
    pub(super) fn all(&self, is_cached: impl Fn(&ObjectKey) -> bool) -> Vec<Quarantined> {
        let mut all: Vec<_> = self
            .held
            .iter()
            .map(|(key, Held { version, .. })| Quarantined {
                key: key.clone(),
                resource_version: (!version.is_empty()).then(|| version.to_string()),
                has_older_copy: is_cached(key),
            })
            .collect();
        all.sort_by(|a, b| a.key.cmp(&b.key));
        all
    }
}
