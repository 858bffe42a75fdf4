use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::series_key::SeriesKey;

/// A point in time, by both clocks: one that never goes back decides what is due, and the
/// one on the wall is what people read.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Moment {
    /// Since the recorder was made.
    pub(in super::super) elapsed: Duration,
    pub(in super::super) time: Timestamp,
}

/// One request, as it has to be now.
#[derive(Clone, Debug)]
pub(in super::super) struct Write {
    pub(in super::super) key: SeriesKey,
    pub(in super::super) name: String,
    pub(in super::super) kind: WriteKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum WriteKind {
    /// The object, with its series if it happened again before it could be written.
    Create {
        event_time: Timestamp,
        repeats: Option<Repeats>,
    },
    /// The series of an object that is there.
    Patch(Repeats),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Repeats {
    /// How often it happened, the first time included. At least 2.
    pub(in super::super) count: i32,
    pub(in super::super) last_observed: Timestamp,
}

/// What the server answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Outcome {
    Written,
    /// Of a patch: there is no such event any more.
    Vanished,
    /// Of a create: there is one of that name.
    Exists,
    /// It will not have it.
    Refused,
    /// There is no answer to rely on.
    Failed {
        /// Whether the request may have been carried out all the same.
        lost: bool,
    },
}

/// An event and its repeats, one object in the server.
///
/// **Invariant:** without `work` the server has the object (`exists`).
pub(super) struct Series {
    pub(super) name: String,
    event_time: Timestamp,
    /// How often it happened.
    count: u64,
    /// Of `count`, how many the server was told of. What it has lost again stays told.
    pub(super) told: u64,
    last: Moment,
    /// As far as we know.
    pub(super) exists: bool,
    /// A create had no answer: the object may be there.
    pub(super) unsure: bool,
    /// Its first repeat was asked to be told at once; that is done once.
    pub(super) begun: bool,
    pub(super) work: Option<Work>,
}

/// What is to be done for a series. It stands in one of the correlator's lines, sleeps until
/// its next try, or is with the server (`sent`).
pub(super) struct Work {
    pub(super) purpose: Purpose,
    /// Tries that failed.
    pub(super) tries: u32,
    /// What the request under way tells: the count.
    pub(super) sent: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Something new happened: an event, or its first repeat.
    Tell,
    /// To tell the count of a series that goes on.
    Refresh,
    /// To tell the last count of a series, and forget it.
    Finish,
}

// === impl Series ===

impl Series {
    pub(super) fn new(name: String, at: Moment) -> Self {
        Self {
            name,
            event_time: at.time,
            count: 1,
            told: 0,
            last: at,
            exists: false,
            unsure: false,
            begun: false,
            work: None,
        }
    }

    /// It happened again. A series that was about to end goes on.
    pub(super) fn repeat(&mut self, at: Moment) {
        self.count += 1;
        self.last = at;
        if let Some(work) = &mut self.work
            && work.purpose == Purpose::Finish
        {
            work.purpose = Purpose::Refresh;
        }
    }

    /// How many happenings the server does not know of.
    pub(super) fn untold(&self) -> u64 {
        self.count - self.told
    }

    /// Whether its first repeat waits to be told.
    pub(super) fn wants_to_begin(&self) -> bool {
        self.exists && self.work.is_none() && !self.begun && self.count > self.told
    }

    /// Whether it was quiet for longer than this.
    pub(super) fn quiet_for(&self, quiet: Duration, at: Moment) -> bool {
        at.elapsed.saturating_sub(self.last.elapsed) > quiet
    }

    /// The request that tells the server all there is, and marks it as sent.
    pub(super) fn send(&mut self, key: &SeriesKey) -> Write {
        let work = self.work.as_mut();
        let work = work.expect("invariant: what stands in a line has work");
        work.sent = Some(self.count);
        let repeats = (self.count > 1).then_some(Repeats {
            // The API's field is an int32.
            count: i32::try_from(self.count).unwrap_or(i32::MAX),
            last_observed: self.last.time,
        });
        let kind = match repeats {
            Some(repeats) if self.exists => WriteKind::Patch(repeats),
            _ => WriteKind::Create {
                event_time: self.event_time,
                repeats,
            },
        };
        Write {
            key: key.clone(),
            name: self.name.clone(),
            kind,
        }
    }

    /// The server has it, with this count. Returns how many of them are news.
    pub(super) fn tell(&mut self, count: u64) -> u64 {
        let news = count.saturating_sub(self.told);
        self.told += news;
        self.exists = true;
        self.unsure = false;
        // A count that came with the object needs no request of its own.
        self.begun |= count > 1;
        news
    }
}
