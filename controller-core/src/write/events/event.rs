use std::borrow::Cow;
use std::fmt;

use super::ObjectReference;
use super::cut::cut;

/// Something that happened to an object, for whoever looks at it later.
///
/// | part | what it is | limit | example |
/// |---|---|---|---|
/// | `reason` | why, one word that people grep for | 128 bytes | `Raised` |
/// | `action` | what was done, or tried, one word | 128 bytes | `Scale` |
/// | `note` | the sentence that is read | 1024 bytes | `scaled from 1 to 2` |
///
/// What is longer than the server allows is cut between two characters, and ends with `…`.
///
/// ```
/// use controller_core::client::{ObjectKey, ResourceType};
/// use controller_core::write::events::{Event, ObjectReference};
///
/// # const DEPLOYMENTS: ResourceType =
/// #     ResourceType::namespaced("apps", "v1", "deployments", "Deployment");
/// # let web = ObjectReference::new(&DEPLOYMENTS, &ObjectKey::namespaced("shop", "web"), "u");
/// let event = Event::normal(web, "Raised", "Scale", format!("scaled from {} to {}", 1, 2));
/// assert_eq!(event.to_string(), "Normal Raised scaled from 1 to 2");
/// ```
///
/// Two events that differ in nothing but their notes are one *series*: the first note stays,
/// and the rest are counted. So put what tells two happenings apart into the reason, and
/// what explains them into the note.
///
/// The dangerous mistake is a reason that is made at run time, `format!("Failed{code}")`:
/// every new word is a new object in the server, and nobody can grep for it. A Secret in
/// a note is the other one: more people may read events than the object itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    event_type: EventType,
    regarding: ObjectReference,
    related: Option<ObjectReference>,
    reason: Cow<'static, str>,
    action: Cow<'static, str>,
    note: String,
}

/// How serious it is. The server knows these two and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// All is as it should be.
    Normal,
    /// Somebody should have a look.
    Warning,
}

// The limits of `k8s.io/kubernetes/pkg/apis/core/validation/events.go`.
const REASON_LIMIT: usize = 128;
const ACTION_LIMIT: usize = 128;
const NOTE_LIMIT: usize = 1024;

// === impl Event ===

impl Event {
    /// An event of type `Normal`.
    pub fn normal(
        regarding: ObjectReference,
        reason: impl Into<Cow<'static, str>>,
        action: impl Into<Cow<'static, str>>,
        note: impl Into<String>,
    ) -> Self {
        Self::new(EventType::Normal, regarding, reason, action, note)
    }

    /// An event of type `Warning`.
    pub fn warning(
        regarding: ObjectReference,
        reason: impl Into<Cow<'static, str>>,
        action: impl Into<Cow<'static, str>>,
        note: impl Into<String>,
    ) -> Self {
        Self::new(EventType::Warning, regarding, reason, action, note)
    }

    /// An event of a type that is known only at run time.
    pub fn new(
        event_type: EventType,
        regarding: ObjectReference,
        reason: impl Into<Cow<'static, str>>,
        action: impl Into<Cow<'static, str>>,
        note: impl Into<String>,
    ) -> Self {
        Self {
            event_type,
            regarding,
            related: None,
            reason: cut(reason.into(), REASON_LIMIT),
            action: cut(action.into(), ACTION_LIMIT),
            note: cut(Cow::Owned(note.into()), NOTE_LIMIT).into_owned(),
        }
    }

    /// Names a second object: the Pod that was made, the Node that was chosen.
    #[must_use]
    pub fn related(mut self, related: ObjectReference) -> Self {
        self.related = Some(related);
        self
    }

    /// `Normal` or `Warning`.
    pub fn event_type(&self) -> EventType {
        self.event_type
    }

    /// The object that it is about.
    pub fn regarding(&self) -> &ObjectReference {
        &self.regarding
    }

    /// The second object, if there is one.
    pub fn related_object(&self) -> Option<&ObjectReference> {
        self.related.as_ref()
    }

    /// Why, in one word.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What was done, in one word.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The sentence.
    pub fn note(&self) -> &str {
        &self.note
    }
}

impl fmt::Display for Event {
    /// As client-go's `FakeRecorder` prints it: type, reason, note.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.event_type, self.reason, self.note)
    }
}

// === impl EventType ===

impl EventType {
    /// As the API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EV-32.
    #[test]
    fn a_note_is_what_was_formatted() {
        let node = "node1";
        let why = "not enough resources";
        let event = Event::warning(
            ObjectReference::default(),
            "FailedScheduling",
            "scheduling",
            format!("Pod failed to schedule on {node}: {why}"),
        );
        insta::assert_snapshot!(
            event,
            @"Warning FailedScheduling Pod failed to schedule on node1: not enough resources"
        );
        // Formatting is Rust's: nothing in a note is a directive.
        let event = Event::normal(ObjectReference::default(), "A", "B", "100%s of {}");
        assert_eq!(event.note(), "100%s of {}");
    }

    #[test]
    fn every_text_is_cut_to_the_servers_limit() {
        let long = "ß".repeat(2000);
        let event = Event::normal(
            ObjectReference::default(),
            long.clone(),
            long.clone(),
            long.clone(),
        );
        assert_eq!(event.reason().len(), 127); // 62 letters of two bytes, and the ellipsis
        assert_eq!(event.action().len(), 127);
        assert_eq!(event.note().len(), 1023);
        assert!(event.note().ends_with("ß…"));
    }
}
