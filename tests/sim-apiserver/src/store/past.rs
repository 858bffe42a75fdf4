//! The state at an earlier revision: the present one with the changes since undone.

use std::{collections::BTreeMap, sync::Arc};

use super::{Key, Object, State, key_range::KeyRange, state::Table};
use crate::kinds::KindId;

/// Which state answers a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AsOf {
    /// The present one.
    #[default]
    Present,
    /// That of a revision, as from an endpoint that has not seen more. One that is still to come shows the
    /// present until it has come.
    Revision(u64),
}

/// The history does not reach back that far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooOld {
    pub(crate) asked: u64,
    pub(crate) oldest: u64,
}

/// The difference between the present state and an earlier one: what those keys held then.
pub(super) struct Undone(BTreeMap<Key, Option<Arc<Object>>>);

// === impl AsOf ===

impl AsOf {
    /// Whether a change of this revision is not to be seen.
    pub(crate) fn hides(self, revision: u64) -> bool {
        match self {
            Self::Present => false,
            Self::Revision(newest) => newest < revision,
        }
    }

    /// The newest revision that is to be seen where `now` is the newest there is.
    pub(crate) fn newest(self, now: u64) -> u64 {
        match self {
            Self::Present => now,
            Self::Revision(newest) => newest.min(now),
        }
    }
}

// === impl State ===

impl State {
    /// An object as it was; `None` if it was not there.
    pub(crate) fn get_as_of(
        &self,
        kind: KindId,
        key: &Key,
        as_of: AsOf,
    ) -> Result<Option<Arc<Object>>, TooOld> {
        let history = &self.table(kind).history;
        let revision = as_of.newest(self.revision());
        let mut then = self.get(kind, key);
        let undone = history.undo_to(revision).ok_or(TooOld {
            asked: revision,
            oldest: history.compacted(),
        })?;
        for change in undone.filter(|change| change.key() == Some(key)) {
            then = change.old.as_ref();
        }
        Ok(then.cloned())
    }
}

// === impl Undone ===

impl Undone {
    /// `None` if the history does not reach back to `revision`.
    pub(super) fn at(state: &State, kind: KindId, revision: u64) -> Option<Self> {
        let mut then = BTreeMap::new();
        for change in state.table(kind).history.undo_to(revision)? {
            if let Some(key) = change.key() {
                then.insert(key.clone(), change.old.clone());
            }
        }
        Some(Self(then))
    }

    /// The objects of the earlier state in key order.
    pub(super) fn merge<'a>(
        &'a self,
        table: &'a Table,
        range: KeyRange,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let mut then = self.0.range::<str, _>(range.clone()).peekable();
        let mut now = table.in_range(range).peekable();
        std::iter::from_fn(move || {
            loop {
                let earlier = match (then.peek(), now.peek()) {
                    (Some((key, _)), Some(object)) => **key <= object.key,
                    (Some(_), None) => true,
                    (None, _) => false,
                };
                if !earlier {
                    return now.next();
                }
                let (key, object) = then.next()?;
                now.next_if(|object| object.key == *key);
                if object.is_some() {
                    return object.as_ref();
                }
            }
        })
    }

    /// How many objects the earlier state has there. Looks at no object that has not changed since.
    pub(super) fn count(&self, table: &Table, range: KeyRange) -> usize {
        let now = table.objects.range::<str, _>(range.clone()).count();
        let there = self.0.range::<str, _>(range);
        there.fold(now, |count, (key, then)| {
            match (then.is_some(), table.objects.contains_key(key)) {
                (true, false) => count + 1,
                (false, true) => count - 1,
                _ => count,
            }
        })
    }
}
