use std::mem;

use hashbrown::HashTable;
use hashbrown::hash_table::OccupiedEntry;
use slab::Slab;

use super::clock::{Nanos, UNKNOWN};
use super::line::Links;
use super::removed::{Removed, drop_each, resume};
use super::work::WorkId;
use crate::handler::Band;

/// Where an entry lives, from its insertion to its removal.
pub(super) type Id = u32;

/// What a key hashes to. Of the 64 bits that a hasher gives, 32 tell 4 billion keys apart
/// well enough, and make an entry and a slot of the table smaller.
pub(super) type KeyHash = u32;

/// Every key that the queue knows of, and the one place it is in.
///
/// A slab gives each key a small stable number, by which lines, deadlines and tickets
/// refer to it; only `add` and its kin hash the key. Two maps and two queues of copied
/// keys would say the same with three times the hashing.
pub(super) struct Entries<T> {
    slab: Slab<Entry<T>>,
    by_item: HashTable<Slot>,
}

/// Where a key is. Being in two places at once is not expressible.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Waits for its deadline, which is the entry's `since`. `order` keeps keys with one
    /// deadline in the order they were added.
    Delayed { band: Band, order: u64 },
    /// Waits for a worker.
    InLine { band: Band, links: Links },
    /// A worker has it.
    InWork(WorkId),
    /// It has left the queue, and may come again.
    Remembered,
}

struct Entry<T> {
    /// What others are compared with.
    item: T,
    /// What is handed out: a worker has it while the key is in work. It is made when the key
    /// comes to be known, since whoever adds it has it at hand. To clone the other one for each
    /// worker would take its count of references from one core to the next, under the lock.
    copy: Option<T>,
    /// Since when the key is in line, or until when it is delayed.
    since: Nanos,
    place: Place,
    hash: KeyHash,
    /// Whether its number is on the list of those that have left: see `remembered.rs`.
    listed: bool,
}

/// The hash stands beside the id, so that neither the growth of the table nor the look for
/// a key that is not there reads entries all over the memory.
#[derive(Clone, Copy)]
struct Slot {
    hash: KeyHash,
    id: Id,
}

// === impl Entries ===

impl<T> Entries<T> {
    pub(super) const fn new() -> Self {
        Self {
            slab: Slab::new(),
            by_item: HashTable::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slab.len()
    }

    /// So many fit before more memory is needed.
    pub(super) fn capacity(&self) -> usize {
        self.slab.capacity()
    }

    pub(super) fn item(&self, id: Id) -> &T {
        &self.slab[id as usize].item
    }

    /// The copy that is to be handed out, unless a worker has it.
    pub(super) fn take_copy(&mut self, id: Id) -> Option<T> {
        self.slab[id as usize].copy.take()
    }

    /// Hands this one out next. Gives back the one that would have been.
    pub(super) fn put_copy(&mut self, id: Id, copy: T) -> Option<T> {
        self.slab[id as usize].copy.replace(copy)
    }

    pub(super) fn place(&self, id: Id) -> Place {
        self.slab[id as usize].place
    }

    pub(super) fn place_mut(&mut self, id: Id) -> &mut Place {
        &mut self.slab[id as usize].place
    }

    /// Whether there is such an entry, and it is only remembered.
    pub(super) fn is_remembered(&self, id: Id) -> bool {
        let entry = self.slab.get(id as usize);
        entry.is_some_and(|it| matches!(it.place, Place::Remembered))
    }

    /// Notes that it is on the list of those that have left. True if it was not.
    pub(super) fn list(&mut self, id: Id) -> bool {
        !mem::replace(&mut self.slab[id as usize].listed, true)
    }

    /// Notes that it is not on that list any more, if there is such an entry.
    pub(super) fn unlist(&mut self, id: Id) {
        if let Some(entry) = self.slab.get_mut(id as usize) {
            entry.listed = false;
        }
    }

    pub(super) fn since(&self, id: Id) -> Nanos {
        self.slab[id as usize].since
    }

    pub(super) fn set_since(&mut self, id: Id, since: Nanos) {
        self.slab[id as usize].since = since;
    }

    /// Makes an entry for a key that has none. The caller gives it its place.
    pub(super) fn insert(&mut self, hash: KeyHash, item: T, copy: Option<T>) -> Id {
        let entry = Entry {
            item,
            copy,
            since: UNKNOWN,
            place: Place::InWork(0),
            hash,
            listed: false,
        };
        let id = self.slab.insert(entry);
        let id = Id::try_from(id).expect("invariant: memory ends before 2^32 keys");
        self.by_item
            .insert_unique(wide(hash), Slot { hash, id }, |slot| wide(slot.hash));
        id
    }

    /// Forgets the key, which must be in neither a line nor the deadlines.
    pub(super) fn remove(&mut self, id: Id) -> Removed<T> {
        let hash = self.slab[id as usize].hash;
        self.by_item
            .find_entry(wide(hash), |slot| slot.id == id)
            .map(OccupiedEntry::remove)
            .ok()
            .expect("invariant: every entry is in the table");
        let Entry { item, copy, .. } = self.slab.remove(id as usize);
        Removed::new(item, copy)
    }

    /// Gives the key an entry among others. These here are only to be dropped after that.
    pub(super) fn move_to(&mut self, id: Id, others: &mut Self) -> Id {
        let Entry {
            item,
            copy,
            since,
            place,
            hash,
            listed: _,
        } = self.slab.remove(id as usize);
        let id = others.insert(hash, item, copy);
        others.set_since(id, since);
        *others.place_mut(id) = place;
        id
    }

    /// Both copies of each key.
    pub(super) fn take_keys(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.by_item.clear();
        let entries = mem::take(&mut self.slab)
            .into_iter()
            .map(|(_, entry)| entry);
        let copies = entries.flat_map(|Entry { item, copy, .. }| [Some(item), copy]);
        copies.flatten()
    }
}

impl<T> Drop for Entries<T> {
    /// One panic of the many that there may be.
    fn drop(&mut self) {
        resume(drop_each(&mut self.take_keys()));
    }
}

impl<T: Eq> Entries<T> {
    pub(super) fn find(&self, hash: KeyHash, item: &T) -> Option<Id> {
        let is_it = |slot: &Slot| slot.hash == hash && self.slab[slot.id as usize].item == *item;
        self.by_item.find(wide(hash), is_it).map(|slot| slot.id)
    }
}

/// As many bits as the table wants: it takes its buckets from the lower ones and tells
/// neighbours apart by the upper seven.
const fn wide(hash: KeyHash) -> u64 {
    (hash as u64) << 32 | hash as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 32 bytes beside the key and its copy, and 9 for a slot of the table, of which up to half
    /// are free.
    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<Entry<Box<u8>>>(), 2 * 8 + 32);
        assert_eq!(size_of::<Slot>(), 8);
    }

    /// Keys of one hash are still two keys.
    #[test]
    fn a_shared_hash_confuses_nothing() {
        let mut entries = Entries::new();
        let ids: Vec<_> = (0..9).map(|item| entries.insert(7, item, None)).collect();
        for (item, id) in (0..9).zip(ids) {
            assert_eq!(entries.find(7, &item), Some(id));
            assert_eq!(entries.remove(id).next(), Some(item));
            assert_eq!(entries.find(7, &item), None);
        }
    }
}
