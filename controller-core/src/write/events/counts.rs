use std::fmt;

/// What became of all that was recorded. A copy of one moment; for a registry there is
/// [`EventMetrics`](super::EventMetrics).
///
/// Every call of [`record`](super::EventRecorder::record) is in exactly one of three places:
/// written, dropped, or not yet written.
///
/// ```
/// use controller_core::write::events::{DropReason, EventCounts};
///
/// /// `3 events were not written: 2 refused, 1 given_up`.
/// fn tell(counts: &EventCounts) -> String {
///     let reasons = DropReason::ALL.map(|reason| format!("{} {reason}", counts.dropped(reason)));
///     let total = counts.dropped_total();
///     format!("{total} events were not written: {}", reasons.join(", "))
/// }
/// # tell(&EventCounts::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Calls of `record`.
    pub recorded: u64,
    /// Of these, how many the server was told of, each as an object or in the count of one.
    pub written: u64,
    /// Requests that were begun, tries that failed included.
    pub requests: u64,
    dropped: [u64; DropReason::ALL.len()],
}

/// Why an event is not on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// Too many events were waiting for the server, and this one would have been another
    /// object.
    BufferFull,
    /// The object has had its share: see [`SpamLimit`](super::SpamLimit).
    Filtered,
    /// The server does not want it: no permission, a namespace that is going away, a quota.
    Refused,
    /// The server could not be reached, for all the tries that an event gets.
    GivenUp,
    /// It was recorded after the end, or not written within the deadline of the last flush.
    ShuttingDown,
}

// === impl EventCounts ===

impl EventCounts {
    /// Nothing was recorded.
    pub const NONE: Self = Self {
        recorded: 0,
        written: 0,
        requests: 0,
        dropped: [0; DropReason::ALL.len()],
    };

    /// How many were dropped for this reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// How many were dropped, for whatever reason.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// How many are neither written nor dropped: they wait for the server, or are repeats in
    /// a series that is told of later.
    pub fn unwritten(&self) -> u64 {
        self.recorded - self.written - self.dropped_total()
    }

    pub(super) fn count_drop(&mut self, reason: DropReason, events: u64) {
        self.dropped[reason as usize] += events;
    }
}

// === impl DropReason ===

impl DropReason {
    /// All of them, in the order of an event's way.
    pub const ALL: [Self; 5] = [
        Self::BufferFull,
        Self::Filtered,
        Self::Refused,
        Self::GivenUp,
        Self::ShuttingDown,
    ];

    /// As a metric's label has it. These words are stable.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BufferFull => "buffer_full",
            Self::Filtered => "filtered",
            Self::Refused => "refused",
            Self::GivenUp => "given_up",
            Self::ShuttingDown => "shutting_down",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_place_and_a_word_of_its_own() {
        let mut counts = EventCounts {
            recorded: 100,
            ..EventCounts::default()
        };
        for (events, reason) in (1..).zip(DropReason::ALL) {
            counts.count_drop(reason, events);
        }
        let told = DropReason::ALL.map(|reason| format!("{reason} {}", counts.dropped(reason)));
        insta::assert_snapshot!(
            told.join("\n"),
            @r"
        buffer_full 1
        filtered 2
        refused 3
        given_up 4
        shutting_down 5
        "
        );
        assert_eq!((counts.dropped_total(), counts.unwritten()), (15, 85));
    }
}
