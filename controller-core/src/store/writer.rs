use std::fmt;
use std::sync::Arc;

use super::counts::CacheCounts;
use super::delta::{Deleted, Delta, Tombstone};
use super::index::IndexFunction;
use super::indexer::Indexer;
use super::lister::Lister;
use crate::client::ObjectKey;
use crate::watch::{News, Object, Unreadable, WatchEvent, is_older};

mod complete;
mod contradiction;
mod listing;
mod unreadable_log;

use complete::Complete;
use contradiction::Contradiction;
use listing::Listing;
use unreadable_log::UnreadableLog;

/// The only one that changes a cache. It turns what the watch says into what changed.
///
/// It promises: every object that was in the cache and vanishes yields exactly one
/// `Deleted`; an object that came back with another uid is a `Deleted` and an `Added`;
/// within one history of the server no object goes back to an older version; when a
/// delta is returned the cache already shows the new state.
///
/// ```
/// use controller_core::store::{Deleted, Delta, cache};
/// use controller_core::watch::WatchEvent;
/// use k8s_openapi::api::core::v1::ConfigMap;
///
/// let map = |name: &str, version: &str| -> ConfigMap {
///     serde_json::from_value(serde_json::json!({ "metadata": {
///         "name": name, "namespace": "shop",
///         "uid": format!("uid-{name}"), "resourceVersion": version,
///     }})).expect("it is a ConfigMap")
/// };
/// let list = |objects: Vec<ConfigMap>, version: &str| {
///     let start = [WatchEvent::ListStarted { fresh: false }];
///     let done = [WatchEvent::ListDone { resource_version: version.into(), restored: false }];
///     start.into_iter().chain(objects.into_iter().map(WatchEvent::Listed)).chain(done)
/// };
///
/// let (mut writer, lister) = cache(Vec::new());
/// let first: Vec<_> = list(vec![map("a", "3"), map("b", "7")], "9")
///     .flat_map(|event| writer.apply(event))
///     .collect();
/// assert!(matches!(&first[..], [Delta::Added { initial: true, .. }, Delta::Added { .. }]));
///
/// // The watch breaks. Meanwhile `a` is deleted and `b` is changed.
/// let second: Vec<_> = list(vec![map("b", "12")], "15")
///     .flat_map(|event| writer.apply(event))
///     .collect();
/// let [Delta::Deleted(Deleted::FinalStateUnknown(a)), Delta::Updated { old, new }] =
///     &second[..]
/// else {
///     panic!("{second:?}")
/// };
/// assert_eq!(a.key.name(), "a");
/// let version = |map: &ConfigMap| map.metadata.resource_version.clone();
/// assert_eq!((version(old), version(new)), (Some("7".into()), Some("12".into())));
/// assert_eq!(lister.len(), 1);
/// ```
///
/// The dangerous mistake is to feed it objects that were read one by one as if they came
/// from a watch. A watch tells its events in the order of their versions, so the writer
/// takes one below the highest for old news and drops it:
///
/// ```
/// # use controller_core::store::cache;
/// # use controller_core::watch::WatchEvent;
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # let map = |name: &str, version: &str| -> ConfigMap {
/// #     serde_json::from_value(serde_json::json!({ "metadata": {
/// #         "name": name, "namespace": "shop", "uid": name, "resourceVersion": version,
/// #     }})).expect("it is a ConfigMap")
/// # };
/// // Wrong: `b` is older than `a`, and is lost.
/// let (mut writer, lister) = cache(Vec::new());
/// writer.apply(WatchEvent::Added(map("a", "7")));
/// writer.apply(WatchEvent::Added(map("b", "3")));
/// assert_eq!((lister.len(), lister.counts().stale()), (1, 1));
///
/// // Right: a list has no order.
/// let (mut writer, lister) = cache(Vec::new());
/// writer.apply(WatchEvent::ListStarted { fresh: false });
/// writer.apply(WatchEvent::Listed(map("a", "7")));
/// writer.apply(WatchEvent::Listed(map("b", "3")));
/// writer.apply(WatchEvent::ListDone { resource_version: "7".into(), restored: false });
/// assert_eq!(lister.len(), 2);
/// ```
pub struct CacheWriter<T> {
    indexer: Arc<Indexer<T>>,
    /// The list that is being received. `None` outside of a list.
    listing: Option<Listing<T>>,
    synced: bool,
    unreadable: UnreadableLog,
}

/// Makes an empty cache with the index functions `indexes`, beside the namespace index. Of
/// two with one name the last counts.
///
/// A [`SharedInformer`](crate::informer::SharedInformer) makes its own. This one is for a
/// test, for a single pass ([`list_once`](crate::watch::list_once)), and for whoever feeds a
/// cache from a [`Reflector`](crate::watch::Reflector) by hand. The writer cannot be cloned:
/// that there is one is what all promises of this stage rest on.
pub fn cache<T: Object>(
    indexes: Vec<(&'static str, IndexFunction<T>)>,
) -> (CacheWriter<T>, Lister<T>) {
    let indexer = Arc::new(Indexer::new(indexes));
    let lister = Lister::new(Arc::clone(&indexer));
    let writer = CacheWriter {
        indexer,
        listing: None,
        synced: false,
        unreadable: UnreadableLog::default(),
    };
    (writer, lister)
}

// === impl CacheWriter ===

impl<T: Object> CacheWriter<T> {
    /// Applies one event and returns what changed, in the order in which handlers must
    /// see it: for a relist the deleted objects come first.
    pub fn apply(&mut self, event: WatchEvent<T>) -> Vec<Delta<T>> {
        match event {
            WatchEvent::ListStarted { fresh } => {
                self.listing = Some(Listing::new(fresh));
                Vec::new()
            }
            WatchEvent::Listed(object) => {
                if let Some(listing) = &mut self.listing {
                    listing.take(object, &self.indexer);
                }
                Vec::new()
            }
            WatchEvent::ListDone {
                resource_version,
                restored,
            } => self.replace(&resource_version, restored),
            WatchEvent::Added(object) | WatchEvent::Modified(object) => self.put(object),
            WatchEvent::Deleted(object) => self.delete(object),
            WatchEvent::Bookmark { resource_version } => {
                self.advance(&resource_version);
                Vec::new()
            }
            WatchEvent::Unreadable(unreadable) => self.quarantine(unreadable),
        }
    }

    /// Whether the first list has been applied.
    pub fn is_synced(&self) -> bool {
        self.synced
    }

    fn replace(&mut self, resource_version: &str, restored: bool) -> Vec<Delta<T>> {
        let Some(listing) = self.listing.take() else {
            return Vec::new();
        };
        self.unreadable
            .keep_only(|key| listing.unreadable.contains_key(key));
        let initial = !std::mem::replace(&mut self.synced, true);
        let counts = &self.indexer.counts;
        let (deltas, restored, proof) = self.indexer.change(|cache| {
            let proof = Contradiction::between(&listing, resource_version, cache);
            let restored = restored || proof.is_some();
            cache.position().listed(resource_version, restored);
            let complete = Complete {
                listing,
                restored,
                initial,
            };
            (complete.apply(cache, counts), restored, proof)
        });
        if restored {
            CacheCounts::count(&counts.restored);
            let proof = proof.as_ref().map(tracing::field::display);
            tracing::warn!(%resource_version, proof, "the server's history starts anew; the cache is replaced");
        }
        deltas
    }

    fn put(&mut self, object: T) -> Vec<Delta<T>> {
        if self.is_old_news(object.resource_version()) {
            return Vec::new();
        }
        let key = object.key();
        if let Some(old) = self.indexer.comparable(&key)
            && old.uid() == object.uid()
            && is_unchanged_or_older::<T>(&old, &object, &self.indexer.counts)
        {
            return Vec::new();
        }
        self.unreadable.forget(&key);
        let new = Arc::new(object);
        let old = self.indexer.change(|cache| {
            cache.position().advance(new.resource_version());
            cache.quarantine().read(&key, new.resource_version());
            cache.put(&key, &new)
        });
        match old {
            Some(old) if old.uid() == new.uid() => vec![Delta::Updated { old, new }],
            Some(last_known) => vec![unseen_end(key, last_known), self.added(new)],
            None => vec![self.added(new)],
        }
    }

    fn delete(&mut self, object: T) -> Vec<Delta<T>> {
        if let Some(listing) = &mut self.listing {
            listing.take_back(&object.key());
            return Vec::new();
        }
        if self.is_old_news(object.resource_version()) {
            return Vec::new();
        }
        let key = object.key();
        self.unreadable.forget(&key);
        let last_known = self.indexer.change(|cache| {
            cache.position().advance(object.resource_version());
            cache.remove(&key)
        });
        let Some(last_known) = last_known else {
            return Vec::new();
        };
        if last_known.uid() == object.uid() {
            vec![Delta::Deleted(Deleted::Observed(Arc::new(object)))]
        } else {
            // The end of another object of this name: that of ours was missed.
            vec![unseen_end(key, last_known)]
        }
    }

    fn quarantine(&mut self, unreadable: Unreadable) -> Vec<Delta<T>> {
        CacheCounts::count(&self.indexer.counts.unreadable);
        self.unreadable.note(&unreadable);
        let Unreadable {
            key,
            resource_version,
            during,
            ..
        } = unreadable;
        let version = resource_version.unwrap_or_default();
        if let Some(listing) = &mut self.listing {
            listing.miss(key, &version, during);
            return Vec::new();
        }
        // As for a line that can be read: it may be old news itself, and what comes later
        // and is older is.
        if self.is_old_news(&version) {
            return Vec::new();
        }
        let Some(key) = key else {
            self.indexer.change(|cache| {
                cache.position().advance(&version);
                // What is gone is hidden by nothing.
                if during != News::Deleted {
                    cache.quarantine().hide();
                }
            });
            return Vec::new();
        };
        let last_known = self.indexer.change(|cache| {
            cache.position().advance(&version);
            if during == News::Deleted {
                return cache.remove(&key);
            }
            cache.quarantine().hold(key.clone(), &version);
            None
        });
        if during == News::Deleted {
            self.unreadable.forget(&key);
        }
        let end = last_known.map(|last_known| unseen_end(key, last_known));
        end.into_iter().collect()
    }

    fn added(&self, new: Arc<T>) -> Delta<T> {
        Delta::Added {
            new,
            initial: !self.synced,
        }
    }

    /// Whether a line of the watch brings a version below one that it brought before.
    fn is_old_news(&self, version: &str) -> bool {
        let old = self.indexer.at(|now| now.is_past(version));
        if old {
            CacheCounts::count(&self.indexer.counts.stale);
        }
        old
    }

    fn advance(&self, version: &str) {
        self.indexer
            .change(|cache| cache.position().advance(version));
    }
}

impl<T> fmt::Debug for CacheWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheWriter")
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}

fn is_unchanged_or_older<T: Object>(old: &T, new: &T, counts: &CacheCounts) -> bool {
    let (old, new) = (old.resource_version(), new.resource_version());
    if new == old {
        return true;
    }
    if is_older(new, old) {
        CacheCounts::count(&counts.stale);
        return true;
    }
    false
}

/// The tombstone of an object whose end nobody saw.
fn unseen_end<T>(key: ObjectKey, last_known: Arc<T>) -> Delta<T> {
    Delta::Deleted(Deleted::FinalStateUnknown(Tombstone { key, last_known }))
}

#[cfg(test)]
mod tests;
