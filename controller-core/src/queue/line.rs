use super::entries::{Entries, Id, Place};
use crate::handler::Band;

/// First in, first out: the keys of one band that wait for a worker.
///
/// The links are kept in the entries, so that a key can leave the middle of the line
/// in one step, which a live add of a background key does.
pub(super) struct Line {
    band: Band,
    first: Id,
    last: Id,
    len: usize,
}

/// The neighbours of a key in line, or [`NOBODY`].
#[derive(Clone, Copy)]
pub(super) struct Links {
    ahead: Id,
    behind: Id,
}

/// No entry has this number: so many do not fit.
const NOBODY: Id = Id::MAX;

// === impl Line ===

impl Line {
    pub(super) const fn new(band: Band) -> Self {
        Self {
            band,
            first: NOBODY,
            last: NOBODY,
            len: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn first(&self) -> Option<Id> {
        match self.first {
            NOBODY => None,
            first => Some(first),
        }
    }

    /// Puts the key at the end, wherever it was before.
    pub(super) fn push<T>(&mut self, entries: &mut Entries<T>, id: Id) {
        let links = Links {
            ahead: self.last,
            behind: NOBODY,
        };
        let band = self.band;
        *entries.place_mut(id) = Place::InLine { band, links };
        match self.last {
            NOBODY => self.first = id,
            last => links_of(entries, last).behind = id,
        }
        self.last = id;
        self.len += 1;
    }

    /// Takes the key out of this line. The caller gives it its next place.
    pub(super) fn unlink<T>(&mut self, entries: &mut Entries<T>, id: Id) {
        let Links { ahead, behind } = *links_of(entries, id);
        match ahead {
            NOBODY => self.first = behind,
            ahead => links_of(entries, ahead).behind = behind,
        }
        match behind {
            NOBODY => self.last = ahead,
            behind => links_of(entries, behind).ahead = ahead,
        }
        self.len -= 1;
    }
}

fn links_of<T>(entries: &mut Entries<T>, id: Id) -> &mut Links {
    match entries.place_mut(id) {
        Place::InLine { links, .. } => links,
        Place::Delayed { .. } | Place::InWork(_) | Place::Remembered => {
            unreachable!("invariant: a linked key is in a line")
        }
    }
}
