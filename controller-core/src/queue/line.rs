use super::entries::{Entries, Id, Place};
use crate::handler::Band;

/// First in, first out: the keys of one band that wait for a worker.
///
/// The links are kept in the entries, so that a key can leave the middle of the line
/// in one step, which a live add of a background key does.
pub(super) struct Line {
    band: Band,
    first: Option<Id>,
    last: Option<Id>,
    len: usize,
}

/// The neighbours of a key in line.
#[derive(Clone, Copy)]
pub(super) struct Links {
    ahead: Option<Id>,
    behind: Option<Id>,
}

// === impl Line ===

impl Line {
    pub(super) const fn new(band: Band) -> Self {
        Self {
            band,
            first: None,
            last: None,
            len: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn first(&self) -> Option<Id> {
        self.first
    }

    /// Puts the key at the end, wherever it was before.
    pub(super) fn push<T>(&mut self, entries: &mut Entries<T>, id: Id) {
        *entries.place_mut(id) = Place::InLine {
            band: self.band,
            links: Links {
                ahead: self.last,
                behind: None,
            },
        };
        match self.last {
            Some(last) => links(entries, last).behind = Some(id),
            None => self.first = Some(id),
        }
        self.last = Some(id);
        self.len += 1;
    }

    /// Takes the key out of this line. The caller gives it its next place.
    pub(super) fn unlink<T>(&mut self, entries: &mut Entries<T>, id: Id) {
        let Links { ahead, behind } = *links(entries, id);
        match ahead {
            Some(ahead) => links(entries, ahead).behind = behind,
            None => self.first = behind,
        }
        match behind {
            Some(behind) => links(entries, behind).ahead = ahead,
            None => self.last = ahead,
        }
        self.len -= 1;
    }
}

fn links<T>(entries: &mut Entries<T>, id: Id) -> &mut Links {
    match entries.place_mut(id) {
        Place::InLine { links, .. } => links,
        Place::Delayed(_) | Place::InWork { .. } => {
            unreachable!("invariant: a linked key is in line")
        }
    }
}
