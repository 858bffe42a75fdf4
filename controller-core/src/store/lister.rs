use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::futures::Notified;

use super::counts::CacheCounts;
use super::index::IndexFunction;
use super::indexer::{IndexExists, Indexer, UnknownIndex};
use super::position::CaughtUp;
use super::quarantine::Quarantined;
use super::select::SelectorOf;
use super::snapshot::Snapshot;
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
/// to fit together, take a [`snapshot`](Self::snapshot), or be content to decide anew at the
/// next event, which is on its way if they do not.
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

    /// All objects at one moment, with the version of that moment. A reference count while
    /// nothing changes; after a change a pointer for each object.
    pub fn snapshot(&self) -> Snapshot<T> {
        self.indexer.snapshot()
    }

    /// Where in the server's history the cache stands: the version of the last list, or of
    /// the last line of the watch, bookmarks included. `None` before the first list.
    ///
    /// A handler that is told of a change finds at least that change's version here. It is
    /// the version of the whole: most objects have a lower one.
    pub fn resource_version(&self) -> Option<String> {
        self.indexer.at(|now| now.version().map(str::to_owned))
    }

    /// Whether the cache shows what the server stored as `version`: the `resourceVersion` in
    /// the answer to a write of an object of this kind.
    ///
    /// With a selector the cache does not hear of every version of the kind. An object that
    /// was written and stays selected is heard of at once; for another the cache catches up
    /// with the next bookmark, within about a minute.
    pub fn caught_up(&self, version: &str) -> CaughtUp {
        self.where_is(version).0
    }

    /// Waits until the cache shows `version`, for at most `within`;
    /// [`CaughtUp::Behind`] if it does not by then.
    pub async fn wait_for_version(&self, version: &str, within: Duration) -> CaughtUp {
        let (_, history) = self.where_is(version);
        let waiting = async {
            loop {
                let moved = self.moved();
                match self.caught_up_since(version, history) {
                    CaughtUp::Behind => moved.await,
                    state => return state,
                }
            }
        };
        let waited = tokio::time::timeout(within, waiting).await;
        waited.unwrap_or(CaughtUp::Behind)
    }

    /// Whether the cache shows `version`, and which of the server's histories it shows.
    pub(super) fn where_is(&self, version: &str) -> (CaughtUp, u64) {
        self.indexer.at(|now| {
            let history = now.history();
            (now.caught_up(version, history), history)
        })
    }

    pub(super) fn caught_up_since(&self, version: &str, history: u64) -> CaughtUp {
        self.indexer.at(|now| now.caught_up(version, history))
    }

    /// Whether the newest state of `key` could not be read, be there an older copy or not.
    pub(super) fn is_quarantined(&self, key: &ObjectKey) -> bool {
        self.indexer.quarantine(|held, _| held.contains(key))
    }

    pub(super) fn moved(&self) -> Notified<'_> {
        self.indexer.moved()
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

    /// How many objects there are whose newest state could not be read: for a probe, a
    /// metric, an alert. It goes back to 0 when they can be read, or are gone. Those of which
    /// nobody knows so much as the key are not among them: see
    /// [`hides_objects`](Self::hides_objects). [`CacheCounts::unreadable`] counts these too, and
    /// never falls.
    pub fn quarantined(&self) -> usize {
        self.indexer.quarantine(|held, _| held.len())
    }

    /// Which objects these are, sorted by key: for whoever has to mend them.
    pub fn quarantine(&self) -> Vec<Quarantined> {
        self.indexer
            .quarantine(|held, is_cached| held.all(is_cached))
    }

    /// Whether the server may have objects of which this cache knows nothing, not even a key: the
    /// last complete list had an item without a name, or of another kind or version, or a line
    /// of the watch since then hid whose it was. The next complete list that hides nothing ends
    /// it.
    ///
    /// Whoever rests on an object's *absence* asks the server meanwhile. The dangerous mistake is
    /// to take a cache that has synced, is empty, and quarantines nothing for "there is none":
    /// it may have been listed from items that all were hidden.
    pub fn hides_objects(&self) -> bool {
        self.indexer.quarantine(|held, _| held.hides_keys())
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
