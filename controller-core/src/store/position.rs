use std::cmp::Ordering;

use crate::watch::{advances, compare_resource_versions, is_older};

/// Whether a cache has seen what a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaughtUp {
    /// It shows the write, or what came after it.
    Yes,
    /// It shows a state of before the write.
    Behind,
    /// It cannot be told: the versions are no numbers, the server's history has started
    /// anew since the write, or what came could not be read. Go on as if it were
    /// [`Yes`](Self::Yes): waiting would not end, and the guard of the next write finds an old
    /// state out.
    Unknown,
}

/// Where in the server's history a cache stands.
#[derive(Debug, Default)]
pub(super) struct Position {
    /// The highest version that a list or a watch has brought. What a later line brings
    /// below it is an old copy, even of a key that the cache no longer holds.
    version: Option<String>,
    /// How often that history started anew. Versions of two histories do not compare.
    history: u64,
}

// === impl CaughtUp ===

impl CaughtUp {
    /// Whether a decision may be made now: whether it is not [`Behind`](Self::Behind).
    pub fn may_go_on(self) -> bool {
        self != Self::Behind
    }
}

// === impl Position ===

impl Position {
    pub(super) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    pub(super) fn history(&self) -> u64 {
        self.history
    }

    /// Whether a line of the watch with this version comes late.
    pub(super) fn is_past(&self, version: &str) -> bool {
        self.version().is_some_and(|known| is_older(version, known))
    }

    /// Moves on to a version that a line brought. Never back.
    pub(super) fn advance(&mut self, version: &str) {
        if advances(version, self.version().unwrap_or_default()) {
            self.set(version);
        }
    }

    /// A list is complete: what it says is where we are.
    pub(super) fn listed(&mut self, version: &str, restored: bool) {
        self.history += u64::from(restored);
        self.set(version);
    }

    /// Whether the state at `version` of that history has been seen.
    pub(super) fn caught_up(&self, version: &str, history: u64) -> CaughtUp {
        if history != self.history {
            return CaughtUp::Unknown;
        }
        let Some(known) = self.version() else {
            // Before the first list: behind everything that is a version.
            let is_version = compare_resource_versions(version, version).is_some();
            return if is_version {
                CaughtUp::Behind
            } else {
                CaughtUp::Unknown
            };
        };
        match compare_resource_versions(version, known) {
            _ if version == known => CaughtUp::Yes,
            Some(Ordering::Greater) => CaughtUp::Behind,
            Some(_) => CaughtUp::Yes,
            None => CaughtUp::Unknown,
        }
    }

    /// Into the text that is there: one allocation for all events.
    fn set(&mut self, version: &str) {
        version.clone_into(self.version.get_or_insert_default());
    }
}
