use std::sync::Arc;

use super::listing::Listing;
use super::{is_unchanged_or_older, unseen_end};
use crate::client::ObjectKey;
use crate::store::counts::CacheCounts;
use crate::store::delta::Delta;
use crate::store::indexer::Writing;
use crate::watch::Object;

/// A list that has come to its end: what it did not bring is gone.
pub(super) struct Complete<T> {
    pub(super) listing: Listing<T>,
    /// The server's history starts anew: what it says counts, whatever was known.
    pub(super) restored: bool,
    /// It is the first list.
    pub(super) initial: bool,
}

// === impl Complete ===

impl<T: Object> Complete<T> {
    /// Makes the cache what the list says, in one pass. Nothing is collected beside the
    /// result: at a first list that would be twice the cache's tables.
    ///
    /// Returns all deletions, then the rest in the order of the list.
    pub(super) fn apply(self, cache: &mut Writing<'_, T>, counts: &CacheCounts) -> Vec<Delta<T>> {
        if self.restored {
            cache.quarantine().clear();
        }
        cache.quarantine().listed(self.listing.keyless);
        let mut deletions = self.vanished(cache);
        for (key, version) in self.listing.unreadable {
            cache.quarantine().hold(key, &version);
        }
        if self.restored {
            cache.quarantine().outlive();
        }
        cache.reserve(self.listing.objects.len());
        let mut others = Vec::new();
        if self.initial {
            others.reserve_exact(self.listing.objects.len());
        }
        for (key, new) in self.listing.objects {
            let old = cache.comparable(&key).filter(|old| old.uid() == new.uid());
            let is_known = old.is_some_and(|old| {
                // The list took the cache's own copy where the two are equal.
                Arc::ptr_eq(old, &new)
                    || !self.restored && is_unchanged_or_older::<T>(old, &new, counts)
            });
            cache.quarantine().read(&key, new.resource_version());
            if is_known {
                continue;
            }
            let old = cache.put(&key, &new);
            others.push(match old {
                Some(old) if old.uid() == new.uid() => Delta::Updated { old, new },
                Some(last_known) => {
                    deletions.push(unseen_end(key, last_known));
                    Delta::Added {
                        new,
                        initial: self.initial,
                    }
                }
                None => Delta::Added {
                    new,
                    initial: self.initial,
                },
            });
        }
        if deletions.is_empty() {
            return others;
        }
        deletions.append(&mut others);
        deletions
    }

    /// Tombstones for what the list did not bring.
    fn vanished(&self, cache: &mut Writing<'_, T>) -> Vec<Delta<T>> {
        let Listing {
            objects,
            unreadable,
            keyless,
            ..
        } = &self.listing;
        let listed = |key: &ObjectKey| objects.contains_key(key) || unreadable.contains_key(key);
        let gone: Vec<_> = cache.keys().filter(|&key| !listed(key)).cloned().collect();
        if !keyless {
            cache.quarantine().retain(listed);
        }
        let mut deletions = Vec::new();
        for key in gone {
            if *keyless {
                cache.quarantine().suspect(key);
            } else if let Some(last_known) = cache.remove(&key) {
                deletions.push(unseen_end(key, last_known));
            }
        }
        deletions
    }
}
