use std::sync::Arc;
use std::time::Duration;

use crate::handler::Band;
use crate::queue::{Durations, Snapshot};

/// What one queue was like at one instant, without its keys: their names are not for metrics.
pub(super) struct Sample {
    pub(super) name: Arc<str>,
    pub(super) controller: Arc<str>,
    pub(super) dirty: [(Band, usize); 2],
    pub(super) delayed: usize,
    pub(super) adds: u64,
    pub(super) retries: u64,
    pub(super) refused: u64,
    pub(super) queue_durations: Durations,
    pub(super) work_durations: Durations,
    /// All keys in work together.
    pub(super) unfinished: Duration,
    /// The key that is in work for the longest time.
    pub(super) longest: Duration,
}

// === impl Sample ===

impl Sample {
    pub(super) fn new<T>(name: Arc<str>, controller: Arc<str>, snapshot: &Snapshot<T>) -> Self {
        let busy = || snapshot.in_work.iter().filter_map(|it| it.busy_for);
        Self {
            name,
            controller,
            dirty: [
                (Band::Live, snapshot.dirty_live),
                (Band::Background, snapshot.dirty_background),
            ],
            delayed: snapshot.depth.delayed,
            adds: snapshot.adds,
            retries: snapshot.retries,
            refused: snapshot.refused,
            queue_durations: snapshot.queue_durations.unwrap_or_default(),
            work_durations: snapshot.work_durations.unwrap_or_default(),
            unfinished: busy().sum(),
            longest: busy().max().unwrap_or_default(),
        }
    }
}
