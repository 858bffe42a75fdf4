use std::collections::BTreeMap;
use std::time::Duration;

use slab::Slab;

use super::clock::{Clock, Nanos, Took};
use super::counts::Counts;
use super::depth::Depth;
use super::entries::{Entries, Id, KeyHash, Place};
use super::incoming::Incoming;
use super::line::Line;
use super::phase::{Phase, Progress};
use super::removed::{Gone, Removed};
use super::snapshot::{InWork, Snapshot};
use super::work::{Due, Then, Work, WorkId};
use crate::handler::Band;

#[path = "deadlines.rs"]
mod deadlines;
#[path = "ending.rs"]
mod ending;
#[path = "remembered.rs"]
mod remembered;

use ending::name_of;
use remembered::Remembered;

/// The rules of the queue, and nothing else: no lock, no waker. Whoever calls brings a
/// clock, and calls [`promote`](Self::promote) first.
///
/// **Invariant:** a key has one entry, and the entry's [`Place`] is the only truth about
/// where it is. `live` and `background` link exactly the entries that are
/// [`Place::InLine`] of that band, `deadlines` holds exactly those that are
/// [`Place::Delayed`], and `works` those that are [`Place::InWork`], for each of which there is
/// one ticket. All that are [`Place::Remembered`] are on the list of `remembered`.
///
/// Keys that leave the queue are given back to the caller, and what does not get into it stays
/// with it: what the drop of a key does is not known, so none happens under the lock.
pub(super) struct State<T> {
    entries: Entries<T>,
    live: Line,
    background: Line,
    /// Keys that have left, while others are here: see [`leave`](Self::leave).
    remembered: Remembered,
    /// Exactly the keys that are [`Place::Delayed`].
    deadlines: BTreeMap<Due, Id>,
    works: Slab<Work>,
    /// Live keys handed out since the last background key.
    live_streak: usize,
    next_order: u64,
    phase: Phase,
    /// How often drains were told to let go; a drain remembers how often when it began.
    releases: u64,
    pub(super) counts: Counts,
    /// What the halt cut off.
    abandoned: usize,
    abandoned_in_work: usize,
    /// The first of these.
    abandoned_keys: Vec<Removed<T>>,
    gone: Option<Box<Gone<T>>>,
}

/// What `add_after` does to a deadline that the key already has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Earliest,
    Replace,
}

/// One key handed to a worker.
pub(super) struct Taken<T> {
    pub(super) work: WorkId,
    pub(super) item: T,
    pub(super) band: Band,
    pub(super) queued_for: Took,
}

/// Of this many keys handed out one is the longest-waiting background key, if any waits.
const TURN: usize = 8;

// === impl State ===

impl<T> State<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Entries::new(),
            live: Line::new(Band::Live),
            background: Line::new(Band::Background),
            remembered: Remembered::default(),
            deadlines: BTreeMap::new(),
            works: Slab::new(),
            live_streak: 0,
            next_order: 0,
            phase: Phase::Open,
            releases: 0,
            counts: Counts::default(),
            abandoned: 0,
            abandoned_in_work: 0,
            abandoned_keys: Vec::new(),
            gone: None,
        }
    }

    /// Keys in line.
    pub(super) const fn len(&self) -> usize {
        self.live.len() + self.background.len()
    }

    pub(super) fn depth(&self) -> Depth {
        Depth {
            live: self.live.len(),
            background: self.background.len(),
            delayed: self.deadlines.len(),
            in_work: self.works.len(),
        }
    }

    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    /// Hands out the key whose turn it is, if there is one.
    ///
    /// The streak counts on while no background key waits, so that one which comes then is
    /// served next: of *any* eight keys handed out one is background, if one waits.
    #[inline]
    pub(super) fn take_into(&mut self, taken: &mut Option<Taken<T>>, clock: &mut Clock) {
        debug_assert!(taken.is_none(), "invariant: one key is taken at a time");
        let background_turn = self.live_streak + 1 >= TURN;
        let (id, band) = match (self.live.first(), self.background.first()) {
            (Some(id), None) => (id, Band::Live),
            (Some(id), Some(_)) if !background_turn => (id, Band::Live),
            (_, Some(id)) => (id, Band::Background),
            (None, None) => return,
        };
        self.unlink(id, band);
        let copy = self.entries.take_copy(id);
        let item = copy.expect("invariant: the copy of a key in line is in its entry");
        self.live_streak = match band {
            Band::Live => self.live_streak + 1,
            Band::Background => 0,
        };
        let since = clock.stamp();
        let queued_for = Took::between(self.entries.since(id), since);
        self.counts.waited(queued_for);
        let work = self.works.insert(Work {
            id,
            band,
            since,
            then: Then::Leave,
        });
        let work = WorkId::try_from(work).expect("invariant: there are fewer works than keys");
        *self.entries.place_mut(id) = Place::InWork(work);
        *taken = Some(Taken {
            work,
            item,
            band,
            queued_for,
        });
    }

    /// The ticket, which had the key, was dropped. Gives the key back if it leaves the queue.
    pub(super) fn done(&mut self, work: WorkId, item: T, clock: &mut Clock) -> Option<Removed<T>> {
        let Work {
            id, since, then, ..
        } = self.works.remove(work as usize);
        let other = self.entries.put_copy(id, item);
        debug_assert!(
            other.is_none(),
            "invariant: of a key in work the ticket has the copy"
        );
        self.counts.worked(Took::between(since, clock.stamp()));
        let left = match (then, self.phase) {
            (Then::Leave, Phase::Open) => self.leave(id),
            (Then::Leave, _) | (_, Phase::Halted) => Some(self.entries.remove(id)),
            (Then::Line { band, since }, _) => {
                self.push(id, band, since);
                None
            }
            (Then::Wait { band, due }, Phase::Open) if due.at <= clock.now() => {
                self.counts.adds += 1;
                self.push(id, band, clock.stamp_at(due.at));
                None
            }
            (Then::Wait { band, due }, Phase::Open) => {
                self.delay(id, band, due);
                None
            }
            (Then::Wait { .. }, Phase::ShuttingDown) => {
                self.counts.dropped_delayed += 1;
                Some(self.entries.remove(id))
            }
        };
        self.forget_if_caught_up();
        left
    }

    /// The key in work is to come back after `delay`, in the band that it was taken from, or
    /// sooner if that was said before. Nothing of the key is needed, which may be what is
    /// broken. It is no news, so a closed intake does not refuse it.
    pub(super) fn again(&mut self, work: WorkId, delay: Duration, clock: &mut Clock) {
        if delay.is_zero() {
            let news = self.work(work).add(None, clock);
            self.counts.adds += u64::from(news);
        } else {
            self.counts.retries += u64::from(self.phase == Phase::Open);
            let due = self.due(delay, clock);
            self.wait_in_work(work, due, Policy::Earliest, clock);
        }
    }

    /// Puts the key in line; it wants a worker since then.
    fn push(&mut self, id: Id, band: Band, since: Nanos) {
        self.entries.set_since(id, since);
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

    fn wait_in_work(&mut self, work: WorkId, due: Due, policy: Policy, clock: &mut Clock) {
        let open = self.phase == Phase::Open;
        let work = self.work(work);
        let came_due = open && work.come_due(clock);
        match &mut work.then {
            Then::Line { .. } => {}
            Then::Wait { due: old, .. } if policy.keeps(*old, due) => {}
            Then::Wait { due: old, .. } => *old = due,
            then @ Then::Leave => {
                let band = work.band;
                *then = Then::Wait { band, due };
            }
        }
        self.counts.adds += u64::from(came_due);
    }

    fn work(&mut self, work: WorkId) -> &mut Work {
        &mut self.works[work as usize]
    }
}

impl<T: Clone + Eq> State<T> {
    /// Puts the key in line, or marks it if it is in work. Any delay it has is over, and
    /// of the two bands the more urgent one counts. (`Band` sorts the urgent one first.)
    /// Without a band it is that which the key has already, or live.
    pub(super) fn add(
        &mut self,
        hash: KeyHash,
        key: &mut Incoming<'_, T>,
        band: Option<Band>,
        clock: &mut Clock,
    ) {
        if self.phase != Phase::Open {
            self.counts.refused += 1;
            return;
        }
        let Some(id) = self.entries.find(hash, key.key()) else {
            let id = self.insert(hash, key);
            self.counts.adds += 1;
            self.push(id, band.unwrap_or(Band::Live), clock.stamp());
            return;
        };
        match self.entries.place(id) {
            Place::Delayed {
                band: waiting,
                order,
            } => {
                self.undelay(id, order);
                self.counts.adds += 1;
                self.push(
                    id,
                    band.map_or(waiting, |it| it.min(waiting)),
                    clock.stamp(),
                );
            }
            Place::InLine { band: standing, .. } => {
                if let Some(band) = band.filter(|it| *it < standing) {
                    let since = self.entries.since(id);
                    self.unlink(id, standing);
                    self.push(id, band, since);
                }
            }
            Place::InWork(work) => {
                let news = self.work(work).add(band, clock);
                self.counts.adds += u64::from(news);
            }
            Place::Remembered => {
                self.recall(id, key);
                self.counts.adds += 1;
                self.push(id, band.unwrap_or(Band::Live), clock.stamp());
            }
        }
    }

    /// Puts the key in line after `delay`. A key that is in line, or will be when its
    /// work is done, is served sooner than that, so nothing is left to do for it.
    pub(super) fn add_after(
        &mut self,
        hash: KeyHash,
        key: &mut Incoming<'_, T>,
        delay: Duration,
        policy: Policy,
        clock: &mut Clock,
    ) {
        if delay.is_zero() {
            return self.add(hash, key, None, clock);
        }
        let found = self.entries.find(hash, key.key());
        let place = found.map(|id| (id, self.entries.place(id)));
        match (self.phase, place) {
            (Phase::Open, _) => {}
            // Once the intake is closed only a worker still has a say: what it asks for is
            // remembered, and counted as dropped when its work is done.
            (Phase::ShuttingDown, Some((_, Place::InWork(_)))) => {}
            _ => {
                self.counts.refused += 1;
                return;
            }
        }
        let due = self.due(delay, clock);
        match place {
            None => {
                let id = self.insert(hash, key);
                self.delay(id, Band::Live, due);
            }
            Some((id, Place::Delayed { band, order })) => {
                let at = self.entries.since(id);
                if !policy.keeps(Due { at, order }, due) {
                    self.undelay(id, order);
                    self.delay(id, band, due);
                }
            }
            Some((id, Place::Remembered)) => {
                self.recall(id, key);
                self.delay(id, Band::Live, due);
            }
            Some((_, Place::InLine { .. })) => {}
            Some((_, Place::InWork(work))) => {
                self.wait_in_work(work, due, policy, clock);
            }
        }
        self.counts.retries += u64::from(self.phase == Phase::Open);
    }

    /// Takes the key's delay away: true if it had one that has not passed. Gives the key
    /// back if it leaves the queue.
    pub(super) fn cancel(
        &mut self,
        hash: KeyHash,
        item: &T,
        clock: &mut Clock,
    ) -> (bool, Option<Removed<T>>) {
        let Some(id) = self.entries.find(hash, item) else {
            return (false, None);
        };
        match self.entries.place(id) {
            Place::Delayed { order, .. } => {
                self.undelay(id, order);
                let left = self.leave(id);
                self.forget_if_caught_up();
                (true, left)
            }
            Place::InLine { .. } | Place::Remembered => (false, None),
            Place::InWork(work) => {
                let open = self.phase == Phase::Open;
                let work = self.work(work);
                let came_due = open && work.come_due(clock);
                let waits = matches!(work.then, Then::Wait { .. });
                if waits {
                    work.then = Then::Leave;
                }
                self.counts.adds += u64::from(came_due);
                (waits, None)
            }
        }
    }
}

impl<T: Clone> State<T> {
    /// A key in work that cannot be cloned is left out.
    pub(super) fn snapshot(&self, clock: &mut Clock) -> Snapshot<T> {
        self.snapshot_by(name_of, clock)
    }
}

impl<T> State<T> {
    /// Keys in work are told by what `name` makes of them. It must not panic: what there is by
    /// then would be dropped under the lock.
    pub(super) fn snapshot_by<N>(
        &self,
        name: impl Fn(&T) -> Option<N>,
        clock: &mut Clock,
    ) -> Snapshot<N> {
        let depth = self.depth();
        let mut snapshot = Snapshot {
            depth,
            dirty_live: depth.live,
            dirty_background: depth.background,
            adds: self.counts.adds,
            retries: self.counts.retries,
            refused: self.counts.refused,
            in_work: Vec::with_capacity(self.works.len()),
            queue_durations: self.counts.times.as_ref().map(|it| it.queue),
            work_durations: self.counts.times.as_ref().map(|it| it.work),
        };
        for (_, work) in &self.works {
            let due = match work.then {
                Then::Leave => None,
                Then::Line { band, .. } => Some(band),
                Then::Wait { band, due } => {
                    let served = self.phase == Phase::Open && due.at <= clock.now();
                    served.then_some(band)
                }
            };
            match due.filter(|_| self.phase != Phase::Halted) {
                Some(Band::Live) => snapshot.dirty_live += 1,
                Some(Band::Background) => snapshot.dirty_background += 1,
                None => {}
            }
            let name = name(self.entries.item(work.id));
            snapshot.in_work.extend(name.map(|item| InWork {
                item,
                band: work.band,
                busy_for: Took::between(work.since, clock.stamp()).duration(),
            }));
        }
        snapshot
    }
}

#[cfg(test)]
impl<T> State<T> {
    pub(super) fn take(&mut self, clock: &mut Clock) -> Option<Taken<T>> {
        let mut taken = None;
        self.take_into(&mut taken, clock);
        taken
    }
}

// === impl Policy ===

impl Policy {
    fn keeps(self, old: Due, new: Due) -> bool {
        self == Self::Earliest && old <= new
    }
}
