//! What happened to one kind, as far back as it is kept.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use super::object::{Key, Object, set_revision};

/// One change of one object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) old: Option<Arc<Object>>,
    pub(crate) new: Option<Arc<Object>>,
    last: OnceLock<Arc<Object>>,
    line: OnceLock<Bytes>,
}

/// The changes of one kind in their order. Positions count from the first change ever.
#[derive(Debug)]
pub(crate) struct History {
    changes: VecDeque<Arc<Change>>,
    /// The position of `changes[0]`.
    first: u64,
    /// The revision of the newest change that is no longer kept.
    compacted: u64,
    /// Watches from an older revision are expired though the changes are kept: the server was restored to it.
    restored: u64,
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
            line: OnceLock::new(),
        }
    }

    /// Whose change it is; a change without an object is none.
    pub(crate) fn key(&self) -> Option<&Key> {
        let object = self.old.as_ref().or(self.new.as_ref());
        object.map(|object| &object.key)
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

    /// The event that most watches send of it, which is encoded once for all of them.
    pub(crate) fn line(&self, encode: impl FnOnce() -> Bytes) -> Bytes {
        self.line.get_or_init(encode).clone()
    }
}

// === impl History ===

impl History {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            changes: VecDeque::new(),
            first: 0,
            compacted: 0,
            restored: 0,
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

    /// Takes out the changes newer than `revision`, newest first, and breaks with all readers: positions from
    /// before are no longer kept.
    pub(crate) fn restore(&mut self, revision: u64) -> impl Iterator<Item = Arc<Change>> + use<> {
        let kept = self.older_than_or_at(revision);
        self.first = self.end() + 1;
        self.restored = revision;
        self.changes.split_off(kept).into_iter().rev()
    }

    /// The oldest revision whose state can still be told.
    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// The oldest revision from which a watch can start.
    pub(crate) fn oldest_watch(&self) -> u64 {
        self.compacted.max(self.restored)
    }

    /// The position behind the newest change.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.changes.len() as u64
    }

    /// The position of the first change that is newer than `revision`; `None` if no watch can start that far
    /// back.
    pub(crate) fn position_after(&self, revision: u64) -> Option<u64> {
        (revision >= self.oldest_watch())
            .then(|| self.first + self.older_than_or_at(revision) as u64)
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
        (revision >= self.compacted).then(|| {
            let newer = self.changes.iter().skip(self.older_than_or_at(revision));
            newer.rev().map(AsRef::as_ref)
        })
    }

    fn older_than_or_at(&self, revision: u64) -> usize {
        self.changes
            .partition_point(|change| change.revision <= revision)
    }
}
