use std::fmt;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::fake_events::{Fake, FakeEvents};
use super::plan::SeriesKey;
use super::shared::Shared;
use super::{Event, EventCounts, EventSource};

/// Records events: the half that a controller holds.
///
/// A clone is cheap, and [`record`](Self::record) is a plain call that neither waits nor
/// fails, from any thread, with any server. Where recorders come from:
///
/// | for | |
/// |---|---|
/// | a program | [`EventWriter::recorder`](super::EventWriter::recorder) |
/// | a unit test | [`EventRecorder::fake`] |
/// | a dry run, or a user who wants no events | [`EventRecorder::disabled`] |
///
/// They are one type, so that what records needs no type parameter.
///
/// The dangerous mistake is to record what is decided anew on each look, "already
/// satisfied", at every resync of every object. Record what *changed*.
#[derive(Clone)]
pub struct EventRecorder {
    sink: Sink,
}

/// As long as one of these lives there may be another event.
pub(super) struct Intake(pub(super) Arc<Shared>);

#[derive(Clone)]
enum Sink {
    Writer {
        intake: Arc<Intake>,
        source: Arc<EventSource>,
    },
    Fake(Fake),
    Disabled,
}

// === impl EventRecorder ===

impl EventRecorder {
    pub(super) fn to_writer(intake: Arc<Intake>, source: EventSource) -> Self {
        Self {
            sink: Sink::Writer {
                intake,
                source: Arc::new(source),
            },
        }
    }

    /// A recorder into memory, and what it recorded: client-go's `FakeRecorder`. It keeps
    /// up to `buffer` events that nobody has taken yet, at least one, and drops and counts
    /// what is beyond.
    ///
    /// Events come out as they were recorded, without series and without spam filter: a test
    /// of a controller is about what the controller says.
    ///
    /// ```
    /// use controller_core::write::events::{Event, EventRecorder, ObjectReference};
    ///
    /// fn greet(recorder: &EventRecorder) {
    ///     let lamp = ObjectReference { name: "lamp".into(), ..Default::default() };
    ///     recorder.record(Event::normal(lamp, "Greeted", "Greet", "hello"));
    /// }
    ///
    /// let (recorder, mut events) = EventRecorder::fake(10);
    /// greet(&recorder);
    /// assert_eq!(events.take_lines(), ["Normal Greeted hello"]);
    /// ```
    pub fn fake(buffer: usize) -> (Self, FakeEvents) {
        let (sender, receiver) = mpsc::channel(buffer.max(1));
        let recorder = Self {
            sink: Sink::Fake(Fake::new(sender)),
        };
        (recorder, FakeEvents::new(receiver))
    }

    /// A recorder that forgets everything and counts nothing.
    pub fn disabled() -> Self {
        Self {
            sink: Sink::Disabled,
        }
    }

    /// Records `event`. It is written in the background, as soon as the server can be
    /// reached, or counted in the series that it belongs to, or dropped and counted in
    /// [`EventCounts`].
    pub fn record(&self, event: Event) {
        match &self.sink {
            Sink::Writer { intake, source } => {
                intake.0.record(SeriesKey::new(event, Arc::clone(source)));
            }
            Sink::Fake(fake) => fake.record(event),
            Sink::Disabled => {}
        }
    }

    /// What became of all events of the writer, whichever recorder they came from. Keep a
    /// clone of a recorder with your metrics to read it; but note that the writer does not
    /// end by itself while you do.
    pub fn counts(&self) -> EventCounts {
        match &self.sink {
            Sink::Writer { intake, .. } => intake.0.plan().counts(),
            Sink::Fake(fake) => fake.counts(),
            Sink::Disabled => EventCounts::default(),
        }
    }
}

impl fmt::Debug for EventRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sink: &dyn fmt::Debug = match &self.sink {
            Sink::Writer { source, .. } => source,
            Sink::Fake(_) => &"fake",
            Sink::Disabled => &"disabled",
        };
        f.debug_tuple("EventRecorder").field(sink).finish()
    }
}

// === impl Intake ===

impl Drop for Intake {
    fn drop(&mut self) {
        self.0.close();
    }
}
