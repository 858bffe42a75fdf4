use std::time::Duration;

use controller_core::handler::Band;
use controller_core::queue::WorkQueue;
use tokio::time::advance;

use super::basics::take;

#[test]
fn keys_of_one_band_are_served_in_order() {
    let queue = WorkQueue::new("test");
    for key in ["a", "b", "c"] {
        queue.add(key);
    }
    let a = take(&queue);
    queue.add("a");
    drop(a); // goes to the end
    assert_eq!(rest(&queue), ["b", "c", "a"]);
}

#[test]
fn live_keys_overtake_background_keys() {
    let queue = WorkQueue::new("test");
    queue.add_background("old 1");
    queue.add_background("old 2");
    queue.add("new");
    assert_eq!(rest(&queue), ["new", "old 1", "old 2"]);
}

#[test]
fn a_live_add_moves_a_background_key_to_the_end_of_the_live_band() {
    let queue = WorkQueue::new("test");
    for key in ["a", "b", "c"] {
        queue.add_background(key);
    }
    queue.add("x");
    queue.add("b");
    assert_eq!(queue.len(), 4);
    assert_eq!(rest(&queue), ["x", "b", "a", "c"]);
}

#[test]
fn a_background_add_of_a_live_key_changes_nothing() {
    let queue = WorkQueue::new("test");
    queue.add("a");
    queue.add("b");
    queue.add_background("a");
    assert_eq!(take(&queue).band(), Band::Live);
    assert_eq!(rest(&queue), ["b"]);
}

#[test]
fn a_key_marked_in_work_comes_back_in_the_more_urgent_band() {
    let queue = WorkQueue::new("test");
    queue.add_background("a");
    let ticket = take(&queue);
    queue.add_background("a");
    queue.add("a");
    queue.add_background("a");
    drop(ticket);
    assert_eq!(take(&queue).band(), Band::Live);
}

/// controller-runtime #3496: a stream of events starved the first list for 40 minutes.
#[test]
fn of_any_eight_gets_one_serves_the_longest_waiting_background_key() {
    let queue = WorkQueue::new("test");
    for key in 0..3 {
        queue.add_background(key);
    }
    let mut served = Vec::new();
    for event in 100..200 {
        queue.add(event);
        queue.add(event + 1000);
        served.push(*take(&queue));
    }
    let background = served.iter().enumerate().filter(|(_, key)| **key < 100);
    let background: Vec<_> = background.map(|(at, key)| (at + 1, *key)).collect();
    assert_eq!(background, [(8, 0), (16, 1), (24, 2)]);
}

/// The bound with a stream of live keys that never ends: each background key is served within
/// eight gets for each that waited before it, however many live keys are in line.
#[test]
fn an_endless_stream_of_live_keys_starves_no_background_key() {
    const OLD: u32 = 1_000;
    let queue = WorkQueue::new("test");
    (0..OLD).for_each(|key| queue.add_background(key));
    let mut served = 0;
    for get in 1..=100_000 {
        queue.add(OLD + 2 * get);
        queue.add(OLD + 2 * get + 1);
        let key = *take(&queue);
        if key < OLD {
            assert_eq!(key, served, "first in, first out");
            served += 1;
            assert!(get <= 8 * served, "{key} was served at get {get}");
        }
    }
    assert_eq!(served, OLD);
    assert_eq!(queue.depth().background, 0);
}

/// controller-runtime #3157: a retry lost its priority, or gained one.
#[tokio::test(start_paused = true)]
async fn a_retry_keeps_the_band_of_its_key() {
    let queue = WorkQueue::new("test");
    for band in [Band::Live, Band::Background] {
        for delay in [Duration::ZERO, Duration::from_secs(1)] {
            match band {
                Band::Live => queue.add("a"),
                Band::Background => queue.add_background("a"),
            }
            let ticket = take(&queue);
            assert_eq!(ticket.band(), band);
            queue.add_after("a", delay);
            drop(ticket);
            advance(delay).await;
            assert_eq!(take(&queue).band(), band, "after {delay:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_background_add_ends_a_delay_and_leaves_a_live_key_live() {
    let queue = WorkQueue::new("test");
    queue.add_after("a", Duration::from_secs(30));
    queue.add_background("a");
    assert_eq!(take(&queue).band(), Band::Live);
    assert_eq!(queue.depth().delayed, 0);
}

fn rest<T: Clone + Eq + std::hash::Hash + Send + 'static>(queue: &WorkQueue<T>) -> Vec<T> {
    (0..queue.len()).map(|_| (*take(queue)).clone()).collect()
}
