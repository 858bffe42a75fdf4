use super::clock::{Clock, Nanos};
use super::entries::Id;
use crate::handler::Band;

/// Where a [`Work`] lives, while its ticket does.
pub(super) type WorkId = u32;

/// A key in the hands of a worker. There are no more of these than workers, so they are
/// kept apart from the entries, of which there may be a million.
pub(super) struct Work {
    pub(super) id: Id,
    pub(super) band: Band,
    /// When a worker took it.
    pub(super) since: Nanos,
    pub(super) then: Then,
}

/// What becomes of a key in work once its ticket is dropped.
#[derive(Clone, Copy)]
pub(super) enum Then {
    /// It leaves the queue.
    Leave,
    /// It goes back in line: it was added meanwhile (client-go: it is dirty).
    Line { band: Band, since: Nanos },
    /// It waits for a deadline, which counts from now but is kept here until then: no
    /// getter could take the key before.
    Wait { band: Band, due: Due },
}

/// A deadline. `order` keeps keys with one deadline in the order they were added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: Nanos,
    pub(super) order: u64,
}

// === impl Work ===

impl Work {
    /// Marks the key to go back in line. True if it was not marked before.
    pub(super) fn add(&mut self, band: Option<Band>, clock: &mut Clock) -> bool {
        let urgent = |known: Band| band.map_or(known, |it| it.min(known));
        let (band, since, news) = match self.then {
            Then::Leave => (band.unwrap_or(self.band), clock.stamp(), true),
            Then::Line { band, since } => (urgent(band), since, false),
            Then::Wait { band, due } => (urgent(band), clock.stamp().min(due.at), true),
        };
        self.then = Then::Line { band, since };
        news
    }

    /// Marks the key if the delay that it is to wait has passed already: it would be in line
    /// if it were not in work, and what is in line is neither delayed nor dropped. True if
    /// it was not marked before.
    pub(super) fn come_due(&mut self, clock: &mut Clock) -> bool {
        let Then::Wait { band, due } = self.then else {
            return false;
        };
        let passed = due.at <= clock.now();
        if passed {
            let since = clock.stamp_at(due.at);
            self.then = Then::Line { band, since };
        }
        passed
    }
}
