use std::cmp::Ordering;
use std::fmt;

use super::listing::Listing;
use crate::client::ObjectKey;
use crate::store::indexer::Writing;
use crate::watch::{Object, compare_resource_versions, is_older};

/// A list that is not older than the cache brings an object that is: the two are of different
/// histories of the server.
///
/// A list shows one moment, and within one history an object at a later moment is at least as
/// new as at an earlier one. An etcd that was restored from a backup with a raised revision
/// answers like this: its version is above all that was seen, and what was changed after the
/// backup is back in its older state. By the list's version alone that server looks well, and
/// the cache would keep what no longer is for ever.
pub(super) struct Contradiction {
    key: ObjectKey,
    known: String,
    got: String,
}

// === impl Contradiction ===

impl Contradiction {
    /// The first one between a list at `version` and the cache, if any.
    pub(super) fn between<T: Object>(
        listing: &Listing<T>,
        version: &str,
        cache: &Writing<'_, T>,
    ) -> Option<Self> {
        let now = cache.version()?;
        // Of an older list it is no more than its age.
        let is_older_list = match compare_resource_versions(version, now) {
            Some(ordering) => ordering == Ordering::Less,
            None => true,
        };
        if is_older_list {
            return None;
        }
        let copies = listing.older.iter().chain(listing.unreadable.keys());
        let copies =
            copies.filter_map(|key| Some((key, cache.comparable(key)?.resource_version())));
        // Also what could not be read was seen.
        let unread = cache.quarantined().comparable();
        copies.chain(unread).find_map(|(key, known)| {
            let got = listing.version(key)?;
            // A copy from beyond what the cache says of itself came with a list that was not
            // of one moment.
            (is_older(got, known) && !is_older(now, known)).then(|| Self {
                key: key.clone(),
                known: known.to_owned(),
                got: got.to_owned(),
            })
        })
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, known, got } = self;
        write!(f, "{key} was at {known} and is at {got}")
    }
}
