//! The objects of every kind, and the one place where they change.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde_json::Value;
use tokio::sync::watch;

use super::{
    history::{Change, History},
    key_range::KeyRange,
    object::{Key, Object, set_revision},
};
use crate::kinds::KindId;

/// Everything that is stored. Every change passes through [`State::put`] or [`State::remove`].
#[derive(Debug)]
pub(crate) struct State {
    revision: u64,
    tables: Vec<Table>,
    by_uid: HashMap<Box<str>, (KindId, Key)>,
    /// Who names a uid as its owner.
    dependents: HashMap<Box<str>, Vec<(KindId, Key)>>,
    changed: watch::Sender<u64>,
    /// How often open watches had to end.
    life: Life,
}

/// From one moment at which all watches have to end to the next: a restore, or the close of the server.
pub(crate) type Life = u64;

#[derive(Debug)]
pub(crate) struct Table {
    kind: KindId,
    pub(crate) objects: BTreeMap<Key, Arc<Object>>,
    pub(crate) history: History,
    changed: watch::Sender<Life>,
}

/// The real server has written its own objects before the first client comes: 0 is never a revision.
pub(super) const FIRST_REVISION: u64 = 1;

// === impl State ===

impl State {
    pub(crate) fn new(
        kinds: impl Iterator<Item = KindId>,
        history: usize,
        changed: watch::Sender<u64>,
    ) -> Self {
        let table = |kind| Table {
            kind,
            objects: BTreeMap::new(),
            history: History::new(history),
            changed: watch::Sender::new(0),
        };
        Self {
            revision: FIRST_REVISION,
            tables: kinds.map(table).collect(),
            by_uid: HashMap::new(),
            dependents: HashMap::new(),
            changed,
            life: 0,
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Makes the next change get this revision. Lower numbers than the present are ignored.
    pub(crate) fn set_next_revision(&mut self, next: u64) {
        self.revision = self.revision.max(next.saturating_sub(1));
    }

    pub(crate) fn table(&self, kind: KindId) -> &Table {
        &self.tables[kind.index()]
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter()
    }

    pub(super) fn tables_mut(&mut self) -> impl Iterator<Item = &mut Table> {
        self.tables.iter_mut()
    }

    pub(crate) fn get(&self, kind: KindId, key: &Key) -> Option<&Arc<Object>> {
        self.table(kind).objects.get(key)
    }

    /// Stores an object under its own name, with the next revision.
    pub(crate) fn put(&mut self, kind: KindId, mut value: Value) -> Arc<Object> {
        self.revision += 1;
        set_revision(&mut value, self.revision);
        let object = Arc::new(Object::encode(value, self.revision));
        let old = self.tables[kind.index()]
            .objects
            .insert(object.key.clone(), Arc::clone(&object));
        if old
            .as_ref()
            .is_none_or(|old| old.owners != object.owners || old.uid != object.uid)
        {
            if let Some(old) = &old {
                self.forget(kind, old);
            }
            self.index(kind, &object);
        }
        self.record(kind, old, Some(Arc::clone(&object)));
        object
    }

    /// Takes an object out, with the next revision; returns its last state.
    pub(crate) fn remove(&mut self, kind: KindId, key: &Key) -> Option<Arc<Object>> {
        let old = self.tables[kind.index()].objects.remove(key)?;
        self.revision += 1;
        self.forget(kind, &old);
        let change = self.record(kind, Some(old), None);
        change.last_state().cloned()
    }

    /// Takes an object out without a trace: no event, no history. What a watch missed looks like this.
    pub(crate) fn remove_silently(&mut self, kind: KindId, key: &Key) -> Option<Arc<Object>> {
        let old = self.tables[kind.index()].objects.remove(key)?;
        self.forget(kind, &old);
        Some(old)
    }

    pub(crate) fn expire_history(&mut self) {
        for table in &mut self.tables {
            table.history.expire(self.revision);
        }
    }

    /// The objects that name this uid as an owner.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<(KindId, Key)> {
        self.dependents.get(uid).cloned().unwrap_or_default()
    }

    /// Where the object with this uid stands.
    pub(crate) fn by_uid(&self, uid: &str) -> Option<(KindId, Key)> {
        self.by_uid.get(uid).cloned()
    }

    /// Goes on at `revision` with the objects there are, which did not get there by way of [`State::put`].
    pub(super) fn begin_anew_at(&mut self, revision: u64) {
        self.revision = revision;
        self.by_uid.clear();
        self.dependents.clear();
        let tables = std::mem::take(&mut self.tables);
        for table in &tables {
            for object in table.objects.values() {
                self.index(table.kind, object);
            }
        }
        self.tables = tables;
        self.end_watches();
        self.changed.send_replace(revision);
    }

    /// Ends every watch that is open.
    pub(crate) fn end_watches(&mut self) {
        self.life += 1;
        for table in &self.tables {
            table.changed.send_replace(self.life);
        }
    }

    fn index(&mut self, kind: KindId, object: &Object) {
        if !object.uid.is_empty() {
            self.by_uid
                .insert(object.uid.clone(), (kind, object.key.clone()));
        }
        for owner in &object.owners {
            self.dependents
                .entry(owner.clone())
                .or_default()
                .push((kind, object.key.clone()));
        }
    }

    fn forget(&mut self, kind: KindId, object: &Object) {
        // Objects that were seeded may share a uid.
        if self
            .by_uid
            .get(&object.uid)
            .is_some_and(|(k, key)| (*k, key) == (kind, &object.key))
        {
            self.by_uid.remove(&object.uid);
        }
        for owner in &object.owners {
            if let Some(dependents) = self.dependents.get_mut(owner) {
                dependents.retain(|(k, key)| (*k, key) != (kind, &object.key));
                if dependents.is_empty() {
                    self.dependents.remove(owner);
                }
            }
        }
    }

    fn record(
        &mut self,
        kind: KindId,
        old: Option<Arc<Object>>,
        new: Option<Arc<Object>>,
    ) -> Arc<Change> {
        let change = Arc::new(Change::new(self.revision, old, new));
        let table = &mut self.tables[kind.index()];
        table.history.push(Arc::clone(&change));
        table.changed.send_replace(self.life);
        self.changed.send_replace(self.revision);
        change
    }
}

// === impl Table ===

impl Table {
    /// Wakes when an object of this kind changes, and when watches have to end: then its value is another.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Life> {
        self.changed.subscribe()
    }

    /// The objects of a namespace, or of all, in key order, from a key on (inclusive).
    pub(crate) fn range<'a>(
        &'a self,
        namespace: Option<&str>,
        from: Option<&str>,
    ) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        self.in_range(KeyRange::new(namespace, from))
    }

    pub(super) fn in_range(&self, range: KeyRange) -> impl Iterator<Item = &Arc<Object>> {
        self.objects
            .range::<str, _>(range)
            .map(|(_, object)| object)
    }
}
