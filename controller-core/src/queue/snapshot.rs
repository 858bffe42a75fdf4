use std::time::Duration;

use super::depth::Depth;
use super::durations::Durations;
use crate::handler::Band;

/// All that can be told of a queue, read at one instant: see
/// [`WorkQueue::snapshot`](super::WorkQueue::snapshot).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot<T> {
    /// How many keys are where.
    pub depth: Depth,
    /// Live keys that want a worker: those in line, and those in work that were added again
    /// meanwhile. client-go calls these dirty, and `workqueue_depth` counts them.
    pub dirty_live: usize,
    /// The same of background keys.
    pub dirty_background: usize,
    /// How often a key came to want a worker, also by the end of its delay. An add of a key
    /// that wanted one already is not counted.
    pub adds: u64,
    /// How often a key was added with a delay that was not zero.
    pub retries: u64,
    /// Adds that came after the shutdown.
    pub refused: u64,
    /// The keys that workers have, in no order. One that panics when it is cloned is left out.
    pub in_work: Vec<InWork<T>>,
    /// How long keys waited for a worker: from the add, or the end of their delay, to the
    /// `get`. `None` unless the queue takes [timestamps](super::Builder::timestamps).
    pub queue_durations: Option<Durations>,
    /// How long workers had them. `None` as above.
    pub work_durations: Option<Durations>,
}

/// A key that a worker has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InWork<T> {
    /// The key, or one equal to it: the queue's own copy.
    pub item: T,
    /// The band it was served from.
    pub band: Band,
    /// How long the worker has had it. `None` unless the queue takes
    /// [timestamps](super::Builder::timestamps).
    pub busy_for: Option<Duration>,
}
