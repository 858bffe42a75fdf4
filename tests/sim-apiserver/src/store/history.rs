//! What happened to one kind, as far back as it is kept.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use super::object::{Object, set_revision};

/// One change of one object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) old: Option<Arc<Object>>,
    pub(crate) new: Option<Arc<Object>>,
    last: OnceLock<Arc<Object>>,
}

/// The changes of one kind in their order. Positions count from the first change ever.
#[derive(Debug)]
pub(crate) struct History {
    changes: VecDeque<Arc<Change>>,
    /// The position of `changes[0]`.
    first: u64,
    /// The revision of the newest change that is no longer kept.
    compacted: u64,
    capacity: usize,
}

// === impl Change ===

impl Change {
    pub(crate) fn new(revision: u64, old: Option<Arc<Object>>, new: Option<Arc<Object>>) -> Self {
        Self {
            revision,
            old,
            new,
            last: OnceLock::new(),
        }
    }

    /// The object as a DELETED event shows it: its previous state with the resourceVersion of this change.
    pub(crate) fn last_state(&self) -> Option<&Arc<Object>> {
        let old = self.old.as_ref()?;
        Some(self.last.get_or_init(|| {
            let mut value = old.value();
            set_revision(&mut value, self.revision);
            Arc::new(Object::encode(value, self.revision))
        }))
    }
}

// === impl History ===

impl History {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            changes: VecDeque::new(),
            first: 0,
            compacted: 0,
            capacity: capacity.max(1),
        }
    }

    pub(crate) fn push(&mut self, change: Arc<Change>) {
        if self.changes.len() == self.capacity
            && let Some(oldest) = self.changes.pop_front()
        {
            self.compacted = oldest.revision;
            self.first += 1;
        }
        self.changes.push_back(change);
    }

    /// Forgets everything up to and including `revision`, the store's present one.
    pub(crate) fn expire(&mut self, revision: u64) {
        self.first += self.changes.len() as u64;
        self.changes.clear();
        self.compacted = revision;
    }

    /// The newest revision from which nothing can be replayed any more: a watch from an older one is expired.
    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// The position behind the newest change.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.changes.len() as u64
    }

    /// The position of the first change that is newer than `revision`; `None` if that far back is not kept.
    pub(crate) fn position_after(&self, revision: u64) -> Option<u64> {
        if revision < self.compacted {
            return None;
        }
        let older = self
            .changes
            .partition_point(|change| change.revision <= revision);
        Some(self.first + older as u64)
    }

    /// At most `limit` changes from a position on; `None` if some of them are not kept any more.
    pub(crate) fn since(&self, position: u64, limit: usize) -> Option<Vec<Arc<Change>>> {
        let skip = usize::try_from(position.checked_sub(self.first)?).ok()?;
        Some(
            self.changes
                .iter()
                .skip(skip)
                .take(limit)
                .cloned()
                .collect(),
        )
    }

    /// The changes newer than `revision`, newest first; `None` if that far back is not kept.
    pub(crate) fn undo_to(&self, revision: u64) -> Option<impl Iterator<Item = &Change>> {
        let from = self.position_after(revision)? - self.first;
        let skip = usize::try_from(from).ok()?;
        Some(self.changes.iter().skip(skip).rev().map(AsRef::as_ref))
    }
}
