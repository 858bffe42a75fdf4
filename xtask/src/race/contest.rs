use serde::Serialize;

use super::subject::Entrant;

/// A race: the same cases for all subjects.
pub(super) struct Contest {
    /// The first argument of each subject, and the name of the report.
    pub(super) name: &'static str,
    pub(super) cases: Vec<Case>,
    /// Ours is the first.
    pub(super) entrants: Vec<Entrant>,
}

/// What is measured, once a round and subject.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Of the values.
    pub(super) unit: &'static str,
    pub(super) better: Better,
    /// What ours is to reach.
    pub(super) goal: Option<Goal>,
}

/// Which value wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Better {
    Higher,
    Lower,
}

/// What ours is to reach in a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
    /// So many times better than every peer.
    Times(f64),
    /// A value of this or less, whatever the peers do.
    AtMost(f64),
}

// === impl Better ===

impl Better {
    /// How many times better `ours` is than `theirs`: above 1 is better, either way.
    pub(super) fn ratio(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Self::Higher => ours / theirs,
            Self::Lower => theirs / ours,
        }
    }
}
