use parking_lot::Mutex;

use crate::client::ObjectKey;
use crate::controllers::min_replicas::{
    Deployment, Failure, Occasion, Occasions, Reporter, Verdict,
};
use crate::write::events::{Event, EventRecorder, EventType, ObjectReference};

/// Turns verdicts that are worth it into Events of their Deployments.
pub(super) struct ToldEvents {
    recorder: EventRecorder,
    occasions: Mutex<Occasions>,
}

// === impl ToldEvents ===

impl ToldEvents {
    /// `from_the_start`: the Deployments that were there before the first decision.
    pub(super) fn new(
        recorder: EventRecorder,
        from_the_start: impl IntoIterator<Item = ObjectKey>,
    ) -> Self {
        Self {
            recorder,
            occasions: Mutex::new(Occasions::new(from_the_start)),
        }
    }
}

impl Reporter for ToldEvents {
    fn report(&self, verdict: &Verdict) {
        let (occasion, left_at_start) = {
            let mut occasions = self.occasions.lock();
            (occasions.note(verdict), occasions.left_at_start())
        };
        if let Some(left) = left_at_start {
            let reasons: Vec<String> = left
                .iter()
                .map(|(reason, count)| format!("{count} {reason}"))
                .collect();
            tracing::info!(
                "left alone from the start, without an event each: {}",
                reasons.join(", ")
            );
        }
        // Without a uid `kubectl describe` would not find it.
        let (Some(occasion), Some(uid)) = (occasion, &verdict.uid) else {
            return;
        };
        let kind = if occasion.is_warning() {
            EventType::Warning
        } else {
            EventType::Normal
        };
        let regarding = ObjectReference::new(&Deployment::RESOURCE, &verdict.key, uid);
        self.recorder.record(Event::new(
            kind,
            regarding,
            occasion.reason(),
            action(occasion, verdict),
            note(occasion, verdict),
        ));
    }
}

fn note(occasion: Occasion, verdict: &Verdict) -> String {
    match occasion {
        // The Event's reason says that it was.
        Occasion::Skipped => verdict.reason.to_string(),
        _ => verdict.to_string(),
    }
}

/// What was done, or kept us from doing it: `action` of an Event. It is part of what makes two
/// Events one series, so it differs where the note has something else to say: of a series
/// only the first note is kept.
fn action(occasion: Occasion, verdict: &Verdict) -> &'static str {
    match occasion {
        Occasion::Raised => "Scale",
        Occasion::FailedUpdate => verdict.failure().map_or("Scale", Failure::token),
        Occasion::Skipped => verdict.reason.name(),
        Occasion::Fight => "Wait",
    }
}
