//! Keys that all become due at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use controller_core::client::ObjectKey;
use controller_core::queue::WorkQueue;
use tokio::sync::Notify;
use tokio::task::{JoinSet, consume_budget};
use tokio::time::{Duration, Instant};

use super::error::QueueError;
use super::keys::Keys;
use super::tally::Tally;
use crate::measure::{Repetition, repeat};

const WORKERS: usize = 2;

/// From the start to the instant at which all are due.
const DELAY: Duration = Duration::from_millis(100);

/// How many keys are yet to be served.
struct Left {
    count: AtomicU64,
    none: Notify,
}

/// Milliseconds from the instant at which all keys are due to the last get.
pub(super) async fn lateness(keys: Keys) -> Result<f64, QueueError> {
    let keys = Arc::new(keys);
    repeat(async || once(&keys).await).await
}

async fn once(keys: &Arc<Keys>) -> Result<Repetition, QueueError> {
    let queue = WorkQueue::new("race");
    let left = Arc::new(Left {
        count: AtomicU64::new(keys.count()),
        none: Notify::new(),
    });
    let mut working = JoinSet::new();
    for _ in 0..WORKERS {
        let tally = Tally::new(keys);
        working.spawn(work(queue.clone(), Arc::clone(&left), tally));
    }
    let start = Instant::now();
    let due = start + DELAY;
    let mut adding = JoinSet::new();
    adding.spawn(add(Arc::clone(keys), queue.clone(), due));

    left.none.notified().await;
    queue.shut_down();
    while let Some(ended) = adding.join_next().await {
        ended.map_err(QueueError::Task)?;
    }
    let mut total = Tally::new(keys);
    let mut last = start;
    while let Some(ended) = working.join_next().await {
        let (tally, at) = ended.map_err(QueueError::Task)?;
        total.merge(&tally);
        last = at.map_or(last, |at| last.max(at));
    }
    total.expect_each_once()?;
    Ok(Repetition {
        value: last.saturating_duration_since(due).as_secs_f64() * 1e3,
        took: last - start,
    })
}

async fn add(keys: Arc<Keys>, queue: WorkQueue<ObjectKey>, due: Instant) {
    for key in &keys.keys {
        let delay = due.saturating_duration_since(Instant::now());
        queue.add_after(key.clone(), delay);
        consume_budget().await;
    }
}

/// Returns the instant at which the worker took the last key of all, if it did.
async fn work(
    queue: WorkQueue<ObjectKey>,
    left: Arc<Left>,
    mut tally: Tally,
) -> (Tally, Option<Instant>) {
    let mut last = None;
    let mut next = queue.get();
    while let Some(ticket) = next.await {
        if left.count.fetch_sub(1, Ordering::Relaxed) == 1 {
            last = Some(Instant::now());
            left.none.notify_one();
        }
        tally.count(&ticket);
        next = ticket.next();
        // As the worker pool does.
        consume_budget().await;
    }
    (tally, last)
}
