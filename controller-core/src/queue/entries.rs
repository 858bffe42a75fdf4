use std::hash::{BuildHasher, Hash};

use hashbrown::hash_table::OccupiedEntry;
use hashbrown::{DefaultHashBuilder, HashTable};
use slab::Slab;

use super::line::Links;
use super::sync::Instant;
use crate::handler::Band;

/// Where an entry lives, from its insertion to its removal.
pub(super) type Id = usize;

/// Every key that the queue knows of, and the one place it is in.
///
/// A slab gives each key a small stable number, by which lines, deadlines and tickets
/// refer to it; only `add` and its kin hash the key. Two maps and two queues of copied
/// keys would say the same with three times the hashing.
pub(super) struct Entries<T> {
    slab: Slab<Entry<T>>,
    by_item: HashTable<Id>,
    hasher: DefaultHashBuilder,
}

/// Where a key is. Being in two places at once is not expressible.
pub(super) enum Place {
    /// Waits for its deadline.
    Delayed(Wait),
    /// Waits for a worker.
    InLine { band: Band, links: Links },
    /// A worker has it.
    InWork { band: Band, then: Then },
}

/// What becomes of a key in work once its ticket is dropped.
#[derive(Clone, Copy)]
pub(super) enum Then {
    /// It leaves the queue.
    Leave,
    /// It goes back in line: it was added meanwhile (client-go: it is dirty).
    Line(Band),
    /// It waits for a deadline, which counts from now but is kept here until then: no
    /// getter could take the key before.
    Wait(Wait),
}

/// A deadline, and the band in which the key goes in line then.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub(super) due: Due,
    pub(super) band: Band,
}

/// A deadline. `order` keeps keys with one deadline in the order they were added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: Instant,
    pub(super) order: u64,
}

struct Entry<T> {
    item: T,
    hash: u64,
    place: Place,
}

/// Below this many slots an empty queue keeps its memory.
const KEPT_SLOTS: usize = 1024;

// === impl Entries ===

impl<T> Entries<T> {
    pub(super) fn new() -> Self {
        Self {
            slab: Slab::new(),
            by_item: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    pub(super) fn item(&self, id: Id) -> &T {
        &self.slab[id].item
    }

    pub(super) fn place(&self, id: Id) -> &Place {
        &self.slab[id].place
    }

    pub(super) fn place_mut(&mut self, id: Id) -> &mut Place {
        &mut self.slab[id].place
    }

    /// Forgets the key. It must be in neither a line nor the deadlines.
    pub(super) fn remove(&mut self, id: Id) {
        let Entry { hash, .. } = self.slab.remove(id);
        self.by_item
            .find_entry(hash, |&other| other == id)
            .map(OccupiedEntry::remove)
            .expect("invariant: every entry is in the table");
        // A first list of a million keys must not be paid for until the process ends.
        if self.slab.is_empty() && self.slab.capacity() > KEPT_SLOTS {
            self.slab = Slab::new();
            self.by_item = HashTable::new();
        }
    }
}

impl<T: Eq + Hash> Entries<T> {
    /// The key's entry, or the hash to insert it with.
    pub(super) fn locate(&self, item: &T) -> Result<Id, u64> {
        let hash = self.hasher.hash_one(item);
        self.by_item
            .find(hash, |&id| self.slab[id].item == *item)
            .copied()
            .ok_or(hash)
    }

    /// Makes an entry for a key that [`locate`](Self::locate) did not find.
    pub(super) fn insert(&mut self, hash: u64, item: T, place: Place) -> Id {
        let id = self.slab.insert(Entry { item, hash, place });
        let slab = &self.slab;
        self.by_item.insert_unique(hash, id, |&id| slab[id].hash);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a burst took is given back once the queue is empty.
    #[test]
    fn memory_shrinks_when_the_last_key_of_many_leaves() {
        let mut entries = Entries::new();
        let ids = (0..10 * KEPT_SLOTS).map(|item| {
            let hash = entries.locate(&item).unwrap_err();
            let place = Place::InWork {
                band: Band::Live,
                then: Then::Leave,
            };
            entries.insert(hash, item, place)
        });
        let ids: Vec<_> = ids.collect();
        for id in ids {
            entries.remove(id);
        }
        assert!(entries.slab.capacity() <= KEPT_SLOTS);
        assert!(entries.by_item.capacity() <= KEPT_SLOTS);
    }
}
