use std::time::Duration;

use lru::LruCache;
use uuid::Uuid;

use super::event_name::EventNames;
use super::limits::{FINISH_TIME, MAX_SERIES, MAX_TRIES, REFRESH_TIME, RETRY_JITTER, RETRY_WAIT};
use super::lines::Lines;
use super::series::{Moment, Outcome, Purpose, Series, Work, Write};
use super::series_key::SeriesKey;
use super::spam_filter::{SpamFilter, SpamLimit};
use crate::write::events::{DropReason, EventCounts};

/// All that is known of what was recorded, and what is to be done next.
///
/// **Invariant:** a series has work exactly while its key is in `lines`, or with the server.
///
/// **Invariant:** what was recorded was written, or dropped, or is untold in a series.
pub(in super::super) struct Correlator {
    filter: SpamFilter,
    names: EventNames,
    /// From the one that was quiet for longest to the one that happened last.
    series: LruCache<SeriesKey, Series>,
    lines: Lines,
    finish_at: Duration,
    refresh_at: Duration,
    closed: bool,
    counts: EventCounts,
}

/// What became of a recorded event at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Observed {
    /// A repeat of which the server is told later.
    Counted,
    /// There is something to send now.
    Queued,
    Dropped(DropReason),
}

// === impl Correlator ===

impl Correlator {
    pub(in super::super) fn new(limit: SpamLimit, new_uuid: fn() -> Uuid) -> Self {
        Self {
            filter: SpamFilter::new(limit),
            names: EventNames::new(new_uuid),
            series: LruCache::unbounded(),
            lines: Lines::default(),
            finish_at: FINISH_TIME,
            refresh_at: REFRESH_TIME,
            closed: false,
            counts: EventCounts::default(),
        }
    }

    pub(in super::super) fn set_spam_limit(&mut self, limit: SpamLimit) {
        self.filter = SpamFilter::new(limit);
    }

    pub(in super::super) fn counts(&self) -> EventCounts {
        self.counts
    }

    pub(in super::super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Nothing is to be sent, slept for, or answered.
    pub(in super::super) fn is_idle(&self) -> bool {
        self.lines.is_idle()
    }

    /// Something happened.
    pub(in super::super) fn observe(&mut self, key: SeriesKey, at: Moment) -> Observed {
        self.counts.recorded += 1;
        let observed = self.take_up(key, at);
        if let Observed::Dropped(reason) = observed {
            self.counts.count_drop(reason, 1);
        }
        observed
    }

    /// The next request, if there is one. Whoever takes it reports with
    /// [`answered`](Self::answered).
    pub(in super::super) fn next(&mut self) -> Option<Write> {
        let key = self.lines.next()?;
        self.counts.requests += 1;
        let series = self.series.peek_mut(&key);
        let series = series.expect("invariant: what stands in a line is a series");
        Some(series.send(&key))
    }

    /// What the server said to a request. `jitter` is in 0..1. Returns why the event was
    /// dropped, if it was.
    pub(in super::super) fn answered(
        &mut self,
        key: &SeriesKey,
        outcome: Outcome,
        at: Moment,
        jitter: f64,
    ) -> Option<DropReason> {
        self.lines.back();
        let series = self.series.peek_mut(key);
        let series = series.expect("invariant: what is with the server is a series");
        let work = series.work.take();
        let mut work = work.expect("invariant: what is with the server has work");
        let sent = work.sent.take().unwrap_or(0);
        let again_at = at.elapsed + RETRY_WAIT.mul_f64(1.0 + RETRY_JITTER * jitter);
        match outcome {
            Outcome::Written => {
                self.counts.written += series.tell(sent);
                self.settle(key, &work, at);
                None
            }
            // It expired: the next request makes it anew, with the count that it has. Like
            // client-go's second half of one try, so that it costs none.
            Outcome::Vanished => {
                series.exists = false;
                self.lines.line_up(key.clone(), work.purpose);
                series.work = Some(work);
                None
            }
            // Our own: the answer that told us so was lost, or the one that told us that it
            // was gone came from a server that lags.
            Outcome::Exists if series.unsure || series.told > 0 => {
                let patch_at = if series.unsure { at.elapsed } else { again_at };
                self.counts.written += series.tell(1);
                if series.untold() == 0 {
                    self.settle(key, &work, at);
                    return None;
                }
                self.try_again(key, work, patch_at)
            }
            // Somebody else's, made in the same nanosecond.
            Outcome::Exists => {
                let object = &key.recorded().event.regarding().name;
                series.name = self.names.name(object, at.time);
                self.try_again(key, work, at.elapsed)
            }
            Outcome::Refused => self.let_be(key, &work, DropReason::Refused),
            Outcome::Failed { lost } => {
                series.unsure |= lost && !series.exists;
                self.try_again(key, work, again_at)
            }
        }
    }

    /// Puts in line what is due by now.
    pub(in super::super) fn tick(&mut self, at: Moment) {
        self.lines.wake(at.elapsed);
        if at.elapsed >= self.finish_at {
            self.finish_at = at.elapsed + FINISH_TIME;
            self.finish(at);
        }
        if at.elapsed >= self.refresh_at {
            self.refresh_at = at.elapsed + REFRESH_TIME;
            self.enlist_untold(Purpose::Refresh);
        }
    }

    /// When [`tick`](Self::tick) has something to do.
    pub(in super::super) fn due(&self) -> Option<Duration> {
        if self.series.is_empty() {
            return None;
        }
        let upkeep = self.finish_at.min(self.refresh_at);
        Some(self.lines.due().map_or(upkeep, |due| due.min(upkeep)))
    }

    /// The end: nothing more is taken up, and whatever the server does not know yet is to be
    /// told in one last try.
    pub(in super::super) fn close(&mut self) {
        self.closed = true;
        self.lines.wake(Duration::MAX);
        self.enlist_untold(Purpose::Finish);
    }

    /// The end of the end: what the server does not know is dropped.
    pub(in super::super) fn abandon(&mut self) {
        self.closed = true;
        let untold = self.series.iter().map(|(_, series)| series.untold()).sum();
        self.counts.count_drop(DropReason::ShuttingDown, untold);
        self.series.clear();
        self.lines = Lines::default();
    }

    fn take_up(&mut self, key: SeriesKey, at: Moment) -> Observed {
        if self.closed {
            return Observed::Dropped(DropReason::ShuttingDown);
        }
        if let Some(series) = self.series.get_mut(&key) {
            series.repeat(at);
            return if self.begin(&key, at) {
                Observed::Queued
            } else {
                Observed::Counted
            };
        }
        if self.lines.is_full() {
            return Observed::Dropped(DropReason::BufferFull);
        }
        if !self.filter.admit(key.recorded(), at.elapsed) {
            return Observed::Dropped(DropReason::Filtered);
        }
        self.make_room();
        let name = &key.recorded().event.regarding().name;
        let series = Series::new(self.names.name(name, at.time), at);
        self.series.push(key.clone(), series);
        self.enlist(key, Purpose::Tell);
        Observed::Queued
    }

    /// Has the first repeat told, if it is one and its object has a request left. If it has
    /// none the next repeat asks again, and the upkeep tells it in any case.
    fn begin(&mut self, key: &SeriesKey, at: Moment) -> bool {
        let Some(series) = self.series.peek_mut(key) else {
            return false;
        };
        if self.closed
            || !series.wants_to_begin()
            || self.lines.is_full()
            || !self.filter.admit(key.recorded(), at.elapsed)
        {
            return false;
        }
        series.begun = true;
        self.enlist(key.clone(), Purpose::Tell);
        true
    }

    /// The server was told all that was sent.
    fn settle(&mut self, key: &SeriesKey, work: &Work, at: Moment) {
        self.lines.leave(work.purpose);
        let Some(series) = self.series.peek(key) else {
            return;
        };
        if series.untold() > 0 && self.closed {
            self.enlist(key.clone(), Purpose::Finish);
        } else if series.untold() == 0 && work.purpose == Purpose::Finish {
            self.series.pop(key);
        } else {
            self.begin(key, at);
        }
    }

    /// A try failed.
    fn try_again(&mut self, key: &SeriesKey, mut work: Work, due: Duration) -> Option<DropReason> {
        work.tries += 1;
        if self.closed {
            self.lines.leave(work.purpose);
            return self.forget(key, DropReason::ShuttingDown);
        }
        // Upkeep comes again by itself.
        if work.purpose != Purpose::Tell || work.tries >= MAX_TRIES {
            return self.let_be(key, &work, DropReason::GivenUp);
        }
        let series = self.series.peek_mut(key)?;
        series.work = Some(work);
        self.lines.sleep(key.clone(), due);
        None
    }

    /// No more is done for now. A series whose object is there is kept: it goes on being
    /// counted, and is told of with the next upkeep.
    fn let_be(&mut self, key: &SeriesKey, work: &Work, reason: DropReason) -> Option<DropReason> {
        self.lines.leave(work.purpose);
        let series = self.series.peek(key)?;
        let ends = work.purpose == Purpose::Finish
            && (reason == DropReason::Refused || self.series.len() > MAX_SERIES);
        if series.exists && !ends && !self.closed {
            return None;
        }
        self.forget(key, reason)
    }

    fn forget(&mut self, key: &SeriesKey, reason: DropReason) -> Option<DropReason> {
        let series = self.series.pop(key)?;
        self.counts.count_drop(reason, series.untold());
        (series.untold() > 0).then_some(reason)
    }

    /// Ends what was quiet. What the server knows in full is only forgotten: client-go
    /// writes it once more, with nothing new in it.
    fn finish(&mut self, at: Moment) {
        let quiet: Vec<SeriesKey> = self
            .series
            .iter()
            .filter(|(_, series)| series.work.is_none() && series.quiet_for(FINISH_TIME, at))
            .map(|(key, _)| key.clone())
            .collect();
        for key in quiet.into_iter().rev() {
            self.end(key);
        }
    }

    fn end(&mut self, key: SeriesKey) {
        let untold = self.series.peek(&key).map_or(0, Series::untold);
        if untold == 0 {
            self.series.pop(&key);
        } else {
            self.enlist(key, Purpose::Finish);
        }
    }

    /// Ends the series that was quiet for longest, if there is one too many. It may be still
    /// there for the time of one request.
    fn make_room(&mut self) {
        if self.series.len() < MAX_SERIES {
            return;
        }
        let mut oldest = self.series.iter().rev();
        let oldest = oldest.find(|(_, series)| series.work.is_none());
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.end(key);
        }
    }

    /// Work for every series of which the server does not know all, from the quietest on.
    fn enlist_untold(&mut self, purpose: Purpose) {
        let untold: Vec<SeriesKey> = self
            .series
            .iter()
            .filter(|(_, series)| series.work.is_none() && series.untold() > 0)
            .map(|(key, _)| key.clone())
            .collect();
        for key in untold.into_iter().rev() {
            self.enlist(key, purpose);
        }
    }

    fn enlist(&mut self, key: SeriesKey, purpose: Purpose) {
        if let Some(series) = self.series.peek_mut(&key) {
            series.work = Some(Work {
                purpose,
                tries: 0,
                sent: None,
            });
            self.lines.enter(key, purpose);
        }
    }
}
