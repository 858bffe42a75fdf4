use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::limits::MAX_WAITING;
use super::series::Purpose;
use super::series_key::SeriesKey;

/// Who is served next, and who sleeps until its next try.
///
/// **Invariant:** a key is in one of the three at most, or with the server.
#[derive(Default)]
pub(super) struct Lines {
    /// What happened, in its order.
    telling: VecDeque<SeriesKey>,
    /// Can wait, and is bounded by the number of series.
    upkeep: VecDeque<SeriesKey>,
    /// By the time of the next try, and then in the order in which they fell asleep.
    asleep: BTreeMap<(Duration, u64), SeriesKey>,
    next_sleeper: u64,
    with_server: usize,
    /// How many have something to tell, wherever they are.
    waiting: usize,
}

// === impl Lines ===

impl Lines {
    /// There are as many as may wait.
    pub(super) fn is_full(&self) -> bool {
        self.waiting >= MAX_WAITING
    }

    pub(super) fn is_idle(&self) -> bool {
        self.telling.is_empty()
            && self.upkeep.is_empty()
            && self.asleep.is_empty()
            && self.with_server == 0
    }

    /// A series has work from now on.
    pub(super) fn enter(&mut self, key: SeriesKey, purpose: Purpose) {
        if purpose == Purpose::Tell {
            self.waiting += 1;
        }
        self.line_up(key, purpose);
    }

    /// A series has no work any more.
    pub(super) fn leave(&mut self, purpose: Purpose) {
        if purpose == Purpose::Tell {
            self.waiting -= 1;
        }
    }

    /// Puts a series with work at the end of its line.
    pub(super) fn line_up(&mut self, key: SeriesKey, purpose: Purpose) {
        match purpose {
            Purpose::Tell => self.telling.push_back(key),
            Purpose::Refresh | Purpose::Finish => self.upkeep.push_back(key),
        }
    }

    pub(super) fn sleep(&mut self, key: SeriesKey, due: Duration) {
        self.next_sleeper += 1;
        self.asleep.insert((due, self.next_sleeper), key);
    }

    /// Puts those in line whose sleep is over. Only what has something to tell sleeps.
    pub(super) fn wake(&mut self, elapsed: Duration) {
        while let Some(first) = self.asleep.first_entry() {
            if first.key().0 > elapsed {
                break;
            }
            let key = first.remove();
            self.telling.push_back(key);
        }
    }

    /// When the next one wakes up.
    pub(super) fn due(&self) -> Option<Duration> {
        self.asleep.keys().next().map(|(due, _)| *due)
    }

    /// Whoever is next goes to the server.
    pub(super) fn next(&mut self) -> Option<SeriesKey> {
        let key = self.telling.pop_front();
        let key = key.or_else(|| self.upkeep.pop_front())?;
        self.with_server += 1;
        Some(key)
    }

    /// The server has answered one.
    pub(super) fn back(&mut self) {
        self.with_server -= 1;
    }
}
