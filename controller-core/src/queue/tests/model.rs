use std::time::Duration;

use crate::handler::Band;

pub(super) type Key = u8;

/// The rules of the queue in the plainest words: lists that are searched from the front.
#[derive(Default)]
pub(super) struct Model {
    pub(super) line: Vec<InLine>,
    pub(super) delayed: Vec<Delayed>,
    pub(super) work: Vec<Work>,
    pub(super) now: Duration,
    pub(super) closed: bool,
    pub(super) halted: bool,
    pub(super) adds: u64,
    pub(super) retries: u64,
    pub(super) refused: u64,
    pub(super) dropped_delayed: usize,
    /// The keys that the halt cut off.
    pub(super) abandoned: Vec<Key>,
    /// The bands of all keys handed out.
    served: Vec<Band>,
    added: usize,
}

#[derive(Clone, Copy)]
pub(super) struct InLine {
    pub(super) key: Key,
    pub(super) band: Band,
    since: Duration,
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
    pub(super) again: Option<InLine>,
    wait: Option<Delayed>,
}

// === impl Model ===

impl Model {
    /// `None` is the band that the key has.
    pub(super) fn add(&mut self, key: Key, band: Option<Band>) {
        if self.closed {
            self.refused += 1;
            return;
        }
        self.come_due(key);
        let since = self.now;
        if let Some(work) = self.work.iter_mut().find(|it| it.key == key) {
            let waiting = work.wait.take().map(|it| it.band);
            let marked = work.again.map(|it| it.band);
            let known = marked.or(waiting);
            let band = [band.or(known.is_none().then_some(work.band)), known];
            let band = band.into_iter().flatten().min().unwrap();
            self.adds += u64::from(work.again.is_none());
            let since = work.again.map_or(since, |it| it.since);
            work.again = Some(InLine { key, band, since });
        } else if let Some(at) = self.delayed.iter().position(|it| it.key == key) {
            let delayed = self.delayed.remove(at);
            let band = band.unwrap_or(delayed.band).min(delayed.band);
            self.adds += 1;
            self.line.push(InLine { key, band, since });
        } else if let Some(at) = self.line.iter().position(|it| it.key == key) {
            if let Some(band) = band
                && band < self.line[at].band
            {
                let old = self.line.remove(at);
                self.line.push(InLine { band, ..old });
            }
        } else {
            let band = band.unwrap_or(Band::Live);
            self.adds += 1;
            self.line.push(InLine { key, band, since });
        }
    }

    pub(super) fn add_after(&mut self, key: Key, delay: Duration, replace: bool) {
        if delay.is_zero() {
            return self.add(key, None);
        }
        let in_work = self.work.iter().any(|it| it.key == key);
        if self.halted || (self.closed && !in_work) {
            self.refused += 1;
            return;
        }
        self.retries += u64::from(!self.closed);
        self.come_due(key);
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
        } else if self.line.iter().any(|it| it.key == key) {
            // Served before the delay is over.
        } else if let Some(old) = self.delayed.iter_mut().find(|it| it.key == key) {
            *old = merge(*old);
        } else {
            self.delayed.push(new);
        }
    }

    pub(super) fn cancel(&mut self, key: Key) -> bool {
        self.come_due(key);
        let before = self.delayed.len();
        self.delayed.retain(|it| it.key != key);
        let work = self.work.iter_mut().find(|it| it.key == key);
        let waited = work.and_then(|it| it.wait.take()).is_some();
        waited || self.delayed.len() < before
    }

    pub(super) fn advance(&mut self, by: Duration) {
        self.now += by;
        self.delayed.sort_by_key(|it| (it.at, it.order));
        while self.delayed.first().is_some_and(|it| it.at <= self.now) {
            let due = self.delayed.remove(0);
            self.adds += 1;
            self.line.push(InLine::from(due));
        }
    }

    /// The key, its band and how long it waited.
    pub(super) fn take(&mut self) -> Option<(Key, Band, Duration)> {
        let first = |band| self.line.iter().position(|it| it.band == band);
        let (live, background) = (first(Band::Live), first(Band::Background));
        let last_seven = self.served.iter().rev().take(7);
        let all_live = last_seven.filter(|it| **it == Band::Live).count() == 7;
        let at = if all_live {
            background.or(live)
        } else {
            live.or(background)
        }?;
        let InLine { key, band, since } = self.line.remove(at);
        self.served.push(band);
        self.work.push(Work {
            key,
            band,
            again: None,
            wait: None,
        });
        Some((key, band, self.now - since))
    }

    pub(super) fn done(&mut self, at: usize) {
        let key = self.work[at].key;
        self.come_due(key);
        let work = self.work.remove(at);
        if self.halted {
            return;
        }
        if let Some(again) = work.again {
            self.line.push(again);
        } else if let Some(wait) = work.wait {
            if self.closed {
                self.dropped_delayed += 1;
            } else {
                self.delayed.push(wait);
            }
        }
    }

    pub(super) fn shut_down(&mut self) {
        let in_work: Vec<_> = self.work.iter().map(|it| it.key).collect();
        in_work.into_iter().for_each(|key| self.come_due(key));
        self.closed = true;
        self.dropped_delayed += self.delayed.len();
        self.delayed.clear();
    }

    pub(super) fn halt(&mut self) {
        self.shut_down();
        if !self.halted {
            self.halted = true;
            self.abandoned = self.work.iter().map(|it| it.key).collect();
            for band in [Band::Live, Band::Background] {
                let line = self.line.iter().filter(|it| it.band == band);
                self.abandoned.extend(line.map(|it| it.key));
            }
        }
        self.line.clear();
    }

    /// A key in work whose delay has passed while the queue was open is as good as in line.
    fn come_due(&mut self, key: Key) {
        let work = self.work.iter_mut().find(|it| it.key == key);
        if let Some(work) = work
            && !self.closed
            && let Some(wait) = work.wait.take_if(|it| it.at <= self.now)
        {
            self.adds += 1;
            work.again = Some(InLine::from(wait));
        }
    }
}

// === impl InLine ===

impl From<Delayed> for InLine {
    fn from(due: Delayed) -> Self {
        let Delayed { key, band, at, .. } = due;
        let since = at;
        Self { key, band, since }
    }
}

// === impl Work ===

impl Work {
    /// The band in which the key wants a worker once more, if it does by now.
    pub(super) fn standing(&self, model: &Model) -> Option<Band> {
        let due = |it: &Delayed| it.at <= model.now && !model.closed;
        let waits = self.wait.filter(due).map(|it| it.band);
        let again = self.again.map(|it| it.band).or(waits);
        again.filter(|_| !model.halted)
    }
}
