//! Says what happens and when, plays the server, and writes down what was sent.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::write::events::plan::{
    Correlator, Moment, Observed, Outcome, SeriesKey, SpamLimit, Write, WriteKind,
};
use crate::write::events::{Event, EventCounts, EventSource, ObjectReference};

pub(super) struct Script {
    pub(super) plan: Correlator,
    pub(super) elapsed: Duration,
    source: Arc<EventSource>,
}

pub(super) const WRITTEN: fn(&Write) -> Outcome = |_| Outcome::Written;
pub(super) const REFUSED: fn(&Write) -> Outcome = |_| Outcome::Refused;
pub(super) const FAILED: fn(&Write) -> Outcome = |_| Outcome::Failed { lost: false };

pub(super) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

pub(super) fn object(name: &str) -> ObjectReference {
    ObjectReference {
        namespace: Some("shop".into()),
        name: name.into(),
        uid: format!("uid-{name}"),
        ..ObjectReference::default()
    }
}

pub(super) fn event(name: &str, reason: &'static str) -> Event {
    Event::normal(object(name), reason, "Test", "a note")
}

/// `create web x1`, `patch web x7`.
pub(super) fn line(write: &Write) -> String {
    let name = &write.key.recorded().event.regarding().name;
    match write.kind {
        WriteKind::Create { repeats, .. } => {
            format!("create {name} x{}", repeats.map_or(1, |it| it.count))
        }
        WriteKind::Patch(repeats) => format!("patch {name} x{}", repeats.count),
    }
}

// === impl Script ===

impl Script {
    pub(super) fn new() -> Self {
        Self::with_limit(SpamLimit::default())
    }

    pub(super) fn with_limit(limit: SpamLimit) -> Self {
        Self {
            plan: Correlator::new(limit, || Uuid::from_u128(1)),
            elapsed: Duration::ZERO,
            source: Arc::new(EventSource::new("test", "i").unwrap()),
        }
    }

    pub(super) fn at(&self) -> Moment {
        let passed = SignedDuration::try_from(self.elapsed).unwrap();
        Moment {
            elapsed: self.elapsed,
            time: Timestamp::UNIX_EPOCH + passed,
        }
    }

    pub(super) fn record(&mut self, event: Event) -> Observed {
        let key = SeriesKey::new(event, Arc::clone(&self.source));
        self.plan.observe(key, self.at())
    }

    /// Lets time pass, as long as something is due on the way to it, and lets the server
    /// answer.
    pub(super) fn pass(
        &mut self,
        time: Duration,
        mut server: impl FnMut(&Write) -> Outcome,
    ) -> Vec<String> {
        let end = self.elapsed + time;
        let mut sent = self.work(&mut server);
        while let Some(due) = self.plan.due().filter(|due| *due <= end) {
            self.elapsed = self.elapsed.max(due);
            sent.extend(self.work(&mut server));
        }
        self.elapsed = end;
        sent
    }

    /// Sends what is to be sent now.
    pub(super) fn work(&mut self, mut server: impl FnMut(&Write) -> Outcome) -> Vec<String> {
        let mut sent = Vec::new();
        loop {
            self.plan.tick(self.at());
            let Some(write) = self.plan.next() else {
                return sent;
            };
            sent.push(line(&write));
            let outcome = server(&write);
            self.answer(&write, outcome);
        }
    }

    pub(super) fn answer(&mut self, write: &Write, outcome: Outcome) {
        let at = self.at();
        self.plan.answered(&write.key, outcome, at, 0.0);
    }

    pub(super) fn counts(&self) -> EventCounts {
        self.plan.counts()
    }
}
