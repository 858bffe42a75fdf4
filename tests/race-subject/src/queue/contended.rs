//! Producers and workers at the same queue, all tasks of one runtime.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use controller_core::client::ObjectKey;
use controller_core::queue::WorkQueue;
use tokio::task::{JoinSet, consume_budget};
use tokio::time::{Duration, Instant};

use super::error::QueueError;
use super::keys::Keys;
use super::tally::Tally;
use crate::measure::{Repetition, repeat};

const PRODUCERS: usize = 2;

/// How many keys are to be done.
const TARGET: u64 = 2_000_000;

/// A worker tells the others after so many: a counter that all write to would be part of
/// what is measured.
const STEP: u64 = 100;

/// How far the workers are, together.
struct Progress {
    start: Instant,
    done: AtomicU64,
    /// How many were done at the end of the race, and when that was.
    end: OnceLock<(u64, Duration)>,
}

/// Keys a second that are done, while two producers add theirs round and round.
pub(super) async fn recycle(keys: Keys, workers: usize) -> Result<f64, QueueError> {
    let keys = Arc::new(keys);
    repeat(async || once(&keys, workers).await).await
}

async fn once(keys: &Arc<Keys>, workers: usize) -> Result<Repetition, QueueError> {
    let queue = WorkQueue::new("race");
    let progress = Arc::new(Progress::new());
    let mut working = JoinSet::new();
    for _ in 0..workers {
        let tally = Tally::new(keys);
        working.spawn(work(queue.clone(), Arc::clone(&progress), tally));
    }
    let mut producing = JoinSet::new();
    for producer in 0..PRODUCERS {
        let (keys, progress) = (Arc::clone(keys), Arc::clone(&progress));
        producing.spawn(produce(producer, keys, queue.clone(), progress));
    }

    while let Some(ended) = producing.join_next().await {
        ended.map_err(QueueError::Task)?;
    }
    queue.shut_down();
    let mut total = Tally::new(keys);
    while let Some(ended) = working.join_next().await {
        total.merge(&ended.map_err(QueueError::Task)?);
    }
    total.expect_all()?;
    let (done, took) = *progress
        .end
        .get()
        .expect("invariant: producers end when this is set");
    Ok(Repetition::rate(done, took))
}

/// Adds every second key, again and again.
async fn produce(
    first: usize,
    keys: Arc<Keys>,
    queue: WorkQueue<ObjectKey>,
    progress: Arc<Progress>,
) {
    let mine = keys.keys.iter().skip(first).step_by(PRODUCERS);
    for key in mine.cycle() {
        if progress.is_over() {
            return;
        }
        queue.add_ref(key);
        // A task that never yields takes its thread from the workers.
        consume_budget().await;
    }
}

async fn work(queue: WorkQueue<ObjectKey>, progress: Arc<Progress>, mut tally: Tally) -> Tally {
    let mut done = 0;
    let mut next = queue.get();
    while let Some(ticket) = next.await {
        tally.count(&ticket);
        next = ticket.next();
        done += 1;
        if done == STEP {
            progress.add(done);
            done = 0;
        }
        // As the worker pool does.
        consume_budget().await;
    }
    tally
}

// === impl Progress ===

impl Progress {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            done: AtomicU64::new(0),
            end: OnceLock::new(),
        }
    }

    fn add(&self, done: u64) {
        let done = self.done.fetch_add(done, Ordering::Relaxed) + done;
        if done >= TARGET && !self.is_over() {
            self.end.get_or_init(|| (done, self.start.elapsed()));
        }
    }

    fn is_over(&self) -> bool {
        self.end.get().is_some()
    }
}
