use std::time::Duration;

use crate::handler::Band;

pub(super) type Key = u8;

/// The rules of the queue in the plainest words: lists that are searched from the front.
#[derive(Default)]
pub(super) struct Model {
    pub(super) line: Vec<(Key, Band)>,
    pub(super) delayed: Vec<Delayed>,
    pub(super) work: Vec<Work>,
    pub(super) now: Duration,
    pub(super) closed: bool,
    pub(super) halted: bool,
    pub(super) dropped_delayed: usize,
    /// The bands of all keys handed out.
    served: Vec<Band>,
    added: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Delayed {
    pub(super) key: Key,
    band: Band,
    at: Duration,
    order: usize,
}

pub(super) struct Work {
    pub(super) key: Key,
    band: Band,
    again: Option<Band>,
    wait: Option<Delayed>,
}

// === impl Model ===

impl Model {
    pub(super) fn add(&mut self, key: Key, band: Band) {
        if self.closed {
            return;
        }
        if let Some(work) = self.work.iter_mut().find(|it| it.key == key) {
            let waiting = work.wait.take().map(|it| it.band);
            work.again = [Some(band), work.again, waiting]
                .into_iter()
                .flatten()
                .min();
        } else if let Some(at) = self.delayed.iter().position(|it| it.key == key) {
            let delayed = self.delayed.remove(at);
            self.line.push((key, band.min(delayed.band)));
        } else if let Some(at) = self.line.iter().position(|it| it.0 == key) {
            if band < self.line[at].1 {
                self.line.remove(at);
                self.line.push((key, band));
            }
        } else {
            self.line.push((key, band));
        }
    }

    pub(super) fn add_after(&mut self, key: Key, delay: Duration, replace: bool) {
        self.added += 1;
        let new = Delayed {
            key,
            band: Band::Live,
            at: self.now + delay,
            order: self.added,
        };
        let merge = |old: Delayed| {
            let at = if replace || new.at < old.at { new } else { old };
            Delayed {
                band: old.band,
                ..at
            }
        };
        if let Some(work) = self.work.iter_mut().find(|it| it.key == key) {
            if work.again.is_none() {
                let band = work.band;
                work.wait = Some(work.wait.map_or(Delayed { band, ..new }, merge));
            }
        } else if self.closed || self.line.iter().any(|it| it.0 == key) {
            // Served before the delay is over, or too late.
        } else if let Some(old) = self.delayed.iter_mut().find(|it| it.key == key) {
            *old = merge(*old);
        } else {
            self.delayed.push(new);
        }
        self.promote();
    }

    pub(super) fn cancel(&mut self, key: Key) -> bool {
        let before = self.delayed.len();
        self.delayed.retain(|it| it.key != key);
        let work = self.work.iter_mut().find(|it| it.key == key);
        let waited = work.and_then(|it| it.wait.take()).is_some();
        waited || self.delayed.len() < before
    }

    pub(super) fn advance(&mut self, by: Duration) {
        self.now += by;
        self.promote();
    }

    pub(super) fn take(&mut self) -> Option<(Key, Band)> {
        let first = |band| self.line.iter().position(|it| it.1 == band);
        let (live, background) = (first(Band::Live), first(Band::Background));
        let last_seven = self.served.iter().rev().take(7);
        let all_live = last_seven.filter(|it| **it == Band::Live).count() == 7;
        let at = if all_live {
            background.or(live)
        } else {
            live.or(background)
        }?;
        let (key, band) = self.line.remove(at);
        self.served.push(band);
        self.work.push(Work {
            key,
            band,
            again: None,
            wait: None,
        });
        Some((key, band))
    }

    pub(super) fn done(&mut self, at: usize) {
        let work = self.work.remove(at);
        if self.halted {
            return;
        }
        if let Some(band) = work.again {
            self.line.push((work.key, band));
        } else if let Some(wait) = work.wait {
            if self.closed {
                self.dropped_delayed += 1;
            } else {
                self.delayed.push(wait);
                self.promote();
            }
        }
    }

    pub(super) fn shut_down(&mut self) {
        self.closed = true;
        self.dropped_delayed += self.delayed.len();
        self.delayed.clear();
    }

    pub(super) fn halt(&mut self) {
        self.shut_down();
        self.halted = true;
        self.line.clear();
    }

    fn promote(&mut self) {
        self.delayed.sort_by_key(|it| (it.at, it.order));
        let due = self
            .delayed
            .iter()
            .take_while(|it| it.at <= self.now)
            .count();
        let due = self.delayed.drain(..due);
        self.line.extend(due.map(|it| (it.key, it.band)));
    }
}
