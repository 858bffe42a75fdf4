use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};

use hashbrown::HashSet;

/// What a list has brought, by its hashes: tokens are long, and a list may bring thousands of
/// them, and 100,000 keys. That one is taken for another costs a moment of patience, or a list
/// in one piece.
#[derive(Debug, Default)]
pub(super) struct Seen {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

// === impl Seen ===

impl Seen {
    /// Whether it comes for the first time.
    pub(super) fn is_new(&mut self, it: &(impl Hash + ?Sized)) -> bool {
        self.hashes.insert(self.hasher.hash_one(it))
    }
}
