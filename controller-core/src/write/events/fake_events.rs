use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::{DropReason, Event, EventCounts};

/// What a [fake recorder](super::EventRecorder::fake) recorded, in order.
///
/// ```
/// use controller_core::write::events::{Event, EventRecorder, EventType, ObjectReference};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (recorder, mut events) = EventRecorder::fake(10);
/// let web = ObjectReference { name: "web".into(), ..Default::default() };
/// recorder.record(Event::warning(web, "Fight", "Scale", "somebody scales it down again"));
///
/// let event = events.next().await.unwrap(); // waits for it, so a test needs no sleep
/// assert_eq!(event.event_type(), EventType::Warning);
/// assert_eq!((event.reason(), &*event.regarding().name), ("Fight", "web"));
/// assert!(events.take().is_empty());
/// # }
/// ```
#[derive(Debug)]
pub struct FakeEvents {
    events: mpsc::Receiver<Event>,
}

/// The sending half.
#[derive(Clone)]
pub(super) struct Fake {
    events: mpsc::Sender<Event>,
    counts: Arc<Mutex<EventCounts>>,
}

// === impl FakeEvents ===

impl FakeEvents {
    pub(super) fn new(events: mpsc::Receiver<Event>) -> Self {
        Self { events }
    }

    /// The next event, when it comes; `None` when there is none left and every recorder was
    /// dropped.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The events that were recorded and not yet taken.
    pub fn take(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    /// As [`take`](Self::take), as lines of type, reason and note.
    pub fn take_lines(&mut self) -> Vec<String> {
        self.take().iter().map(Event::to_string).collect()
    }
}

// === impl Fake ===

impl Fake {
    pub(super) fn new(events: mpsc::Sender<Event>) -> Self {
        Self {
            events,
            counts: Arc::default(),
        }
    }

    pub(super) fn record(&self, event: Event) {
        let kept = self.events.try_send(event);
        let mut counts = self.counts.lock();
        counts.recorded += 1;
        match kept {
            Ok(()) => counts.written += 1,
            Err(mpsc::error::TrySendError::Full(_)) => counts.count_drop(DropReason::BufferFull, 1),
            Err(mpsc::error::TrySendError::Closed(_)) => {
                counts.count_drop(DropReason::ShuttingDown, 1);
            }
        }
    }

    pub(super) fn counts(&self) -> EventCounts {
        *self.counts.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EventRecorder, ObjectReference};
    use super::*;

    fn event(note: &str) -> Event {
        Event::normal(ObjectReference::default(), "R", "A", note)
    }

    #[tokio::test]
    async fn a_fake_keeps_the_order_and_drops_what_is_beyond() {
        let (recorder, mut events) = EventRecorder::fake(2);
        for note in ["one", "two", "three"] {
            recorder.record(event(note));
        }
        assert_eq!(events.take_lines(), ["Normal R one", "Normal R two"]);
        recorder.clone().record(event("four"));
        let counts = recorder.counts();
        assert_eq!((counts.recorded, counts.written), (4, 3));
        assert_eq!(counts.dropped(DropReason::BufferFull), 1);
        drop(recorder);
        assert_eq!(events.next().await, Some(event("four")));
        assert_eq!(events.next().await, None);
    }

    #[test]
    fn a_fake_that_nobody_listens_to_counts_on() {
        let (recorder, events) = EventRecorder::fake(0);
        drop(events);
        recorder.record(event("one"));
        assert_eq!(recorder.counts().dropped(DropReason::ShuttingDown), 1);
    }

    #[test]
    fn a_disabled_recorder_does_nothing() {
        let recorder = EventRecorder::disabled();
        recorder.record(event("one"));
        assert_eq!(recorder.counts(), EventCounts::default());
        insta::assert_snapshot!(format!("{recorder:?}"), @r#"EventRecorder("disabled")"#);
    }
}
