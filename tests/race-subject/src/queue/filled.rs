//! One task at a time: a queue is filled, and then emptied.

use controller_core::client::ObjectKey;
use controller_core::queue::WorkQueue;
use tokio::task::consume_budget;
use tokio::time::Instant;

use super::error::QueueError;
use super::keys::Keys;
use super::tally::{Tally, expect_each_once_in_line};
use crate::measure::{Repetition, repeat};

/// How many adds of keys in line are timed at once.
const DUPLICATES: u64 = 5_000_000;

/// Keys a second that are added to a queue that knows none of them.
pub(super) async fn unique_add(keys: &Keys) -> Result<f64, QueueError> {
    repeat(async || {
        let queue = WorkQueue::new("race");
        let start = Instant::now();
        for key in &keys.keys {
            queue.add_ref(key);
        }
        let took = start.elapsed();
        expect_each_once_in_line(&queue, keys).await?;
        Ok(Repetition::rate(keys.count(), took))
    })
    .await
}

/// Keys a second that a worker gets and is done with, while nobody adds any.
pub(super) async fn get_done(keys: &Keys) -> Result<f64, QueueError> {
    repeat(async || {
        let queue = WorkQueue::new("race");
        for key in &keys.keys {
            queue.add_ref(key);
        }
        let mut tally = Tally::new(keys);
        let start = Instant::now();
        serve(&queue, keys, &mut tally).await;
        let took = start.elapsed();
        tally.expect_each_once()?;
        Ok(Repetition::rate(keys.count(), took))
    })
    .await
}

/// Adds a second of keys that are in line.
pub(super) async fn dedup_add(keys: &Keys) -> Result<f64, QueueError> {
    repeat(async || {
        let queue = WorkQueue::new("race");
        for key in &keys.keys {
            queue.add_ref(key);
        }
        let start = Instant::now();
        for _ in 0..DUPLICATES / keys.count() {
            for key in &keys.keys {
                queue.add_ref(key);
            }
        }
        let took = start.elapsed();
        expect_each_once_in_line(&queue, keys).await?;
        Ok(Repetition::rate(DUPLICATES, took))
    })
    .await
}

/// How many times as much a key costs among a million as among 10,000: added, served and done.
pub(super) async fn growth() -> Result<f64, QueueError> {
    let few = passage(&Keys::new(100, 100)).await?;
    // Made only now: the small case is to have the caches, and in Go the heap, to itself.
    let many = passage(&Keys::new(1_000, 1_000)).await?;
    Ok(many / few)
}

/// Nanoseconds a key.
async fn passage(keys: &Keys) -> Result<f64, QueueError> {
    repeat(async || {
        let queue = WorkQueue::new("race");
        let mut tally = Tally::new(keys);
        let start = Instant::now();
        for key in &keys.keys {
            queue.add_ref(key);
        }
        serve(&queue, keys, &mut tally).await;
        let took = start.elapsed();
        tally.expect_each_once()?;
        Ok(Repetition::cost(keys.count(), took))
    })
    .await
}

/// Gets as many keys as there are, and is done with each.
async fn serve(queue: &WorkQueue<ObjectKey>, keys: &Keys, tally: &mut Tally) {
    for _ in 0..keys.count() {
        let Some(ticket) = queue.get().await else {
            return;
        };
        tally.count(&ticket);
        drop(ticket);
        // As the worker pool does.
        consume_budget().await;
    }
}
