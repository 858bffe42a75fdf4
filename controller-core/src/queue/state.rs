use std::collections::BTreeMap;
use std::hash::Hash;
use std::time::Duration;

use super::depth::Depth;
use super::entries::{Due, Entries, Id, Place, Then, Wait};
use super::line::Line;
use super::phase::{Phase, Progress};
use super::sync::Instant;
use crate::handler::Band;

/// The rules of the queue, and nothing else: no lock, no waker, no clock. Whoever calls
/// says what time it is, and calls [`promote`](Self::promote) first.
///
/// **Invariant:** a key has one entry, and the entry's [`Place`] is the only truth about
/// where it is. `live` and `background` link exactly the entries that are
/// [`Place::InLine`] of that band, `deadlines` holds exactly those that are
/// [`Place::Delayed`], and `in_work` counts those that are [`Place::InWork`], for each of
/// which there is one ticket.
pub(super) struct State<T> {
    entries: Entries<T>,
    live: Line,
    background: Line,
    /// Exactly the keys that are [`Place::Delayed`].
    deadlines: BTreeMap<Due, Id>,
    in_work: usize,
    /// Live keys handed out since the last background key.
    live_streak: usize,
    next_order: u64,
    phase: Phase,
    /// How often drains were told to let go; a drain remembers how often when it began.
    releases: u64,
    dropped_delayed: usize,
    /// What the halt cut off.
    abandoned: usize,
}

/// What `add_after` does to a deadline that the key already has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Earliest,
    Replace,
}

/// One key handed to a worker.
pub(super) struct Taken<T> {
    pub(super) id: Id,
    pub(super) item: T,
    pub(super) band: Band,
}

/// Of this many keys handed out one is the longest-waiting background key, if any waits.
const TURN: usize = 8;

/// A longer delay is cut to this. Nobody waits for it, and `now + delay` cannot overflow.
const LONGEST_DELAY: Duration = Duration::from_secs(365 * 24 * 60 * 60);

// === impl State ===

impl<T> State<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Entries::new(),
            live: Line::new(Band::Live),
            background: Line::new(Band::Background),
            deadlines: BTreeMap::new(),
            in_work: 0,
            live_streak: 0,
            next_order: 0,
            phase: Phase::Open,
            releases: 0,
            dropped_delayed: 0,
            abandoned: 0,
        }
    }

    /// Keys in line.
    pub(super) fn len(&self) -> usize {
        self.live.len() + self.background.len()
    }

    pub(super) fn depth(&self) -> Depth {
        Depth {
            live: self.live.len(),
            background: self.background.len(),
            delayed: self.deadlines.len(),
            in_work: self.in_work,
        }
    }

    pub(super) fn earliest(&self) -> Option<Instant> {
        self.deadlines.first_key_value().map(|(due, _)| due.at)
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn progress(&self) -> Progress {
        let halted = self.phase == Phase::Halted;
        let left = self.len() + self.in_work;
        Progress {
            over: halted || left == 0,
            releases: self.releases,
            dropped_delayed: self.dropped_delayed,
            left: if halted { self.abandoned } else { left },
        }
    }

    /// Puts in line what is due, in the order of the deadlines.
    pub(super) fn promote(&mut self, now: Instant) {
        while let Some(first) = self.deadlines.first_entry() {
            if first.key().at > now {
                break;
            }
            let id = first.remove();
            let Place::Delayed(Wait { band, .. }) = *self.entries.place(id) else {
                unreachable!("invariant: `deadlines` holds the delayed keys")
            };
            self.push(id, band);
        }
    }

    /// The ticket of `id` was dropped.
    pub(super) fn done(&mut self, id: Id, now: Instant) {
        let Place::InWork { then, .. } = *self.entries.place(id) else {
            unreachable!("invariant: a ticket's key is in work")
        };
        self.in_work -= 1;
        match (then, self.phase) {
            (Then::Leave, _) | (_, Phase::Halted) => self.entries.remove(id),
            (Then::Line(band), _) => self.push(id, band),
            (Then::Wait(wait), Phase::Open) => {
                self.delay(id, wait);
                self.promote(now);
            }
            (Then::Wait(_), Phase::ShuttingDown) => {
                self.dropped_delayed += 1;
                self.entries.remove(id);
            }
        }
    }

    /// Closes the intake and drops the delayed keys. Those in line are still handed out,
    /// and so is a key that was added while it was in work.
    pub(super) fn shut_down(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::ShuttingDown;
        }
        for id in std::mem::take(&mut self.deadlines).into_values() {
            self.dropped_delayed += 1;
            self.entries.remove(id);
        }
    }

    /// Lets the drains go that have begun.
    pub(super) fn release(&mut self) {
        self.releases += 1;
    }

    /// Closes the intake and drops the keys in line too.
    pub(super) fn halt(&mut self) {
        if self.phase == Phase::Halted {
            return;
        }
        self.shut_down();
        self.phase = Phase::Halted;
        self.abandoned = self.len() + self.in_work;
        for band in [Band::Live, Band::Background] {
            while let Some(id) = self.line(band).first() {
                self.unlink(id, band);
                self.entries.remove(id);
            }
        }
    }

    fn delay(&mut self, id: Id, wait: Wait) {
        *self.entries.place_mut(id) = Place::Delayed(wait);
        self.deadlines.insert(wait.due, id);
    }

    fn push(&mut self, id: Id, band: Band) {
        match band {
            Band::Live => self.live.push(&mut self.entries, id),
            Band::Background => self.background.push(&mut self.entries, id),
        }
    }

    fn unlink(&mut self, id: Id, band: Band) {
        match band {
            Band::Live => self.live.unlink(&mut self.entries, id),
            Band::Background => self.background.unlink(&mut self.entries, id),
        }
    }

    fn line(&self, band: Band) -> &Line {
        match band {
            Band::Live => &self.live,
            Band::Background => &self.background,
        }
    }

    fn due(&mut self, delay: Duration, now: Instant) -> Due {
        self.next_order += 1;
        Due {
            at: now + delay.min(LONGEST_DELAY),
            order: self.next_order,
        }
    }
}

impl<T: Eq + Hash> State<T> {
    /// Puts the key in line, or marks it if it is in work. Any delay it has is over, and
    /// of the two bands the more urgent one counts. (`Band` sorts the urgent one first.)
    pub(super) fn add(&mut self, item: T, band: Band) {
        if self.phase != Phase::Open {
            return;
        }
        let id = match self.entries.locate(&item) {
            Ok(id) => id,
            Err(hash) => {
                // The place is set by the push.
                let place = Place::InWork {
                    band,
                    then: Then::Leave,
                };
                let id = self.entries.insert(hash, item, place);
                return self.push(id, band);
            }
        };
        match self.entries.place_mut(id) {
            Place::Delayed(wait) => {
                let Wait { due, band: waiting } = *wait;
                self.deadlines.remove(&due);
                self.push(id, band.min(waiting));
            }
            Place::InLine { band: standing, .. } => {
                let standing = *standing;
                if band < standing {
                    self.unlink(id, standing);
                    self.push(id, band);
                }
            }
            Place::InWork { then, .. } => {
                let band = match *then {
                    Then::Leave => band,
                    Then::Line(marked) => band.min(marked),
                    Then::Wait(wait) => band.min(wait.band),
                };
                *then = Then::Line(band);
            }
        }
    }

    /// Puts the key in line after `delay`. A key that is in line, or will be when its
    /// work is done, is served sooner than that, so nothing is left to do for it.
    pub(super) fn add_after(&mut self, item: T, delay: Duration, policy: Policy, now: Instant) {
        let found = self.entries.locate(&item);
        // Once the intake is closed only a worker still has a say: what it asks for is
        // remembered, and counted as dropped when its work is done.
        if self.phase != Phase::Open && found.is_err() {
            return;
        }
        let due = self.due(delay, now);
        let keeps = |old: Due| policy == Policy::Earliest && old <= due;
        match found {
            Err(hash) => {
                let wait = Wait {
                    due,
                    band: Band::Live,
                };
                let id = self.entries.insert(hash, item, Place::Delayed(wait));
                self.delay(id, wait);
            }
            Ok(id) => match self.entries.place_mut(id) {
                Place::Delayed(wait) if !keeps(wait.due) => {
                    let wait = *wait;
                    self.deadlines.remove(&wait.due);
                    self.delay(id, Wait { due, ..wait });
                }
                Place::InWork {
                    band,
                    then: then @ Then::Leave,
                } => {
                    *then = Then::Wait(Wait { due, band: *band });
                }
                Place::InWork {
                    then: Then::Wait(wait),
                    ..
                } if !keeps(wait.due) => {
                    wait.due = due;
                }
                Place::Delayed(_) | Place::InLine { .. } | Place::InWork { .. } => {}
            },
        }
        self.promote(now);
    }

    /// Takes the key's delay away. True if it had one.
    pub(super) fn cancel(&mut self, item: &T) -> bool {
        let Ok(id) = self.entries.locate(item) else {
            return false;
        };
        match self.entries.place_mut(id) {
            Place::Delayed(wait) => {
                let due = wait.due;
                self.deadlines.remove(&due);
                self.entries.remove(id);
                true
            }
            Place::InWork {
                then: then @ Then::Wait(_),
                ..
            } => {
                *then = Then::Leave;
                true
            }
            Place::InLine { .. } | Place::InWork { .. } => false,
        }
    }
}

impl<T: Clone> State<T> {
    /// Hands out the key whose turn it is.
    ///
    /// The streak counts on while no background key waits, so that one which comes then is
    /// served next: of *any* eight keys handed out one is background, if one waits.
    pub(super) fn take(&mut self) -> Option<Taken<T>> {
        let background_turn = self.live_streak + 1 >= TURN;
        let (id, band) = match (self.live.first(), self.background.first()) {
            (Some(id), None) => (id, Band::Live),
            (Some(id), Some(_)) if !background_turn => (id, Band::Live),
            (_, Some(id)) => (id, Band::Background),
            (None, None) => return None,
        };
        let item = self.entries.item(id).clone();
        self.live_streak = match band {
            Band::Live => self.live_streak + 1,
            Band::Background => 0,
        };
        self.unlink(id, band);
        *self.entries.place_mut(id) = Place::InWork {
            band,
            then: Then::Leave,
        };
        self.in_work += 1;
        Some(Taken { id, item, band })
    }
}
