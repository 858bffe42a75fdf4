use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::write::events::{Event, EventSource, EventType, ObjectReference};

/// An event and who reported it.
#[derive(Debug)]
pub(in super::super) struct Recorded {
    pub(in super::super) event: Event,
    pub(in super::super) source: Arc<EventSource>,
}

/// Which series an event belongs to: two are equal when the events are *isomorphic*, that is
/// when they differ in nothing but their notes. It is the `eventKey` of client-go's
/// `tools/events`, but for the resourceVersion of the object, which would end the series
/// with every change of it.
///
/// The event itself is the key, so that its words are there once. A clone is a pointer.
#[derive(Clone, Debug)]
pub(in super::super) struct SeriesKey(Arc<Recorded>);

type Isomorphic<'a> = (
    EventType,
    &'a str,
    &'a str,
    &'a EventSource,
    &'a ObjectReference,
    Option<&'a ObjectReference>,
);

// === impl SeriesKey ===

impl SeriesKey {
    pub(in super::super) fn new(event: Event, source: Arc<EventSource>) -> Self {
        Self(Arc::new(Recorded { event, source }))
    }

    pub(in super::super) fn recorded(&self) -> &Recorded {
        &self.0
    }

    fn isomorphic(&self) -> Isomorphic<'_> {
        let Recorded { event, source } = &*self.0;
        (
            event.event_type(),
            event.action(),
            event.reason(),
            source,
            event.regarding(),
            event.related_object(),
        )
    }
}

impl PartialEq for SeriesKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.isomorphic() == other.isomorphic()
    }
}

impl Eq for SeriesKey {}

impl Hash for SeriesKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.isomorphic().hash(state);
    }
}
