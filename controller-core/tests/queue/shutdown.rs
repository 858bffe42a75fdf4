use std::time::Duration;

use controller_core::queue::{Depth, Drained, WorkQueue};
use futures::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, timeout};

use super::basics::{far, take};

const ALL_DONE: Drained = Drained {
    completed: true,
    dropped_delayed: 0,
    abandoned: 0,
    abandoned_in_work: 0,
    refused: 0,
};

/// WQ-07
#[tokio::test]
async fn a_drain_waits_for_the_keys_in_work() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    queue.add(2);
    let (first, second) = (take(&queue), take(&queue));
    let mut drain = Box::pin(queue.shut_down_with_drain(far()));
    assert!(futures::poll!(&mut drain).is_pending());
    drop(first);
    assert!(futures::poll!(&mut drain).is_pending());
    drop(second);
    assert_eq!(drain.now_or_never(), Some(ALL_DONE));
}

/// WQ-08
#[test]
fn a_plain_shutdown_waits_for_nothing() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    let ticket = take(&queue);
    queue.shut_down();
    assert!(queue.is_shutting_down());
    drop(ticket);
    queue.shut_down();
}

/// WQ-09
#[tokio::test(start_paused = true)]
async fn a_later_shutdown_lets_a_drain_go() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    queue.add(2);
    let _ticket = take(&queue);
    let mut drains = JoinSet::new();
    drains.spawn(queue.shut_down_with_drain(far()));
    tokio::task::yield_now().await;
    assert!(drains.try_join_next().is_none());
    queue.shut_down();
    let drained = timeout(Duration::from_secs(1), drains.join_all()).await;
    let drained = drained.unwrap()[0];
    assert!(!drained.completed);
    assert_eq!(drained.abandoned, 2, "one in work, one in line");
    assert_eq!(*take(&queue), 2, "a plain shutdown still hands out");
}

/// A shutdown lets go of the drains before it, not of those after it.
#[tokio::test]
async fn a_drain_after_a_shutdown_waits() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    let ticket = take(&queue);
    queue.shut_down();
    let mut drain = Box::pin(queue.shut_down_with_drain(far()));
    assert!(futures::poll!(&mut drain).is_pending());
    drop(ticket);
    assert_eq!(drain.now_or_never(), Some(ALL_DONE));
}

/// WQ-10
#[tokio::test]
async fn a_key_added_in_work_before_the_shutdown_is_still_served() {
    let queue = WorkQueue::new("test");
    queue.add("foo");
    let ticket = take(&queue);
    queue.add("foo");
    let mut drain = Box::pin(queue.shut_down_with_drain(far()));
    drop(ticket);
    assert!(futures::poll!(&mut drain).is_pending());
    let again = queue.get().await.unwrap();
    assert_eq!(*again, "foo");
    drop(again);
    assert!(queue.get().await.is_none());
    assert_eq!(drain.await, ALL_DONE);
}

/// BX-01: client-go's drain returns while keys are in line (kubernetes #141079).
#[tokio::test]
async fn a_drain_waits_for_the_keys_in_line_too() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    queue.add(2);
    let mut drain = Box::pin(queue.shut_down_with_drain(far()));
    assert!(futures::poll!(&mut drain).is_pending());
    drop(take(&queue));
    assert!(futures::poll!(&mut drain).is_pending(), "one is left");
    drop(take(&queue));
    assert_eq!(drain.now_or_never(), Some(ALL_DONE));
}

/// BX-02: client-go wakes one of them and the others hang.
#[tokio::test(start_paused = true)]
async fn all_drains_and_idle_getters_return() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    let ticket = take(&queue);
    let mut getters = JoinSet::new();
    let mut drains = JoinSet::new();
    for _ in 0..3 {
        getters.spawn(queue.get());
    }
    tokio::task::yield_now().await;
    for _ in 0..2 {
        drains.spawn(queue.shut_down_with_drain(far()));
    }
    tokio::task::yield_now().await;
    drop(ticket);
    let all = async { (getters.join_all().await, drains.join_all().await) };
    let (got, drained) = timeout(Duration::from_secs(1), all).await.unwrap();
    assert!(got.iter().all(Option::is_none));
    assert_eq!(drained, [ALL_DONE; 2]);
}

/// BX-03: client-go's drain lags up to 10 s behind its delay loop, and drops in silence.
#[tokio::test(start_paused = true)]
async fn a_drain_drops_delayed_keys_at_once_and_counts_them() {
    let queue = WorkQueue::new("test");
    let start = Instant::now();
    queue.add_after("later", Duration::from_secs(30));
    queue.add_after("now", Duration::ZERO);
    drop(take(&queue));
    let drained = queue.shut_down_with_drain(far()).await;
    assert_eq!((drained.completed, drained.dropped_delayed), (true, 1));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(queue.depth(), Depth::default());
}

/// A retry that the drain cuts off did not happen: whoever shuts down must hear of it.
#[tokio::test]
async fn a_drain_counts_the_retries_it_drops() {
    let queue = WorkQueue::new("test");
    for key in 1..=3 {
        queue.add(key);
    }
    let (first, second, third) = (take(&queue), take(&queue), take(&queue));
    queue.add_rate_limited(1); // before the shutdown
    let drain = queue.shut_down_with_drain(far());
    queue.add_rate_limited(2);
    queue.add_rate_limited(2);
    drop((first, second, third));
    let drained = drain.await;
    assert_eq!((drained.completed, drained.dropped_delayed), (true, 2));
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_a_drain_halts_the_queue_and_says_what_is_left() {
    let queue = WorkQueue::new("test");
    for key in 1..=4 {
        queue.add(key);
    }
    let ticket = take(&queue);
    queue.add(1); // marked, and cut off with the rest
    let halted = queue.halted();
    let start = Instant::now();
    let drained = queue
        .shut_down_with_drain(start + Duration::from_secs(5))
        .await;
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    let expected = Drained {
        completed: false,
        dropped_delayed: 0,
        abandoned: 4,
        abandoned_in_work: 1,
        refused: 0,
    };
    assert_eq!(drained, expected);
    assert!(halted.now_or_never().is_some());
    assert!(queue.get().await.is_none(), "nothing is handed out");
    drop(ticket);
    assert_eq!(queue.depth(), Depth::default());
    assert_eq!(queue.shut_down_with_drain(far()).await, expected);
}

#[tokio::test(start_paused = true)]
async fn the_earliest_deadline_ends_every_drain() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    let start = Instant::now();
    let (short, long) = tokio::join!(
        queue.shut_down_with_drain(start + Duration::from_secs(1)),
        queue.shut_down_with_drain(start + Duration::from_secs(9)),
    );
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert_eq!(short, long);
    assert_eq!(short.abandoned, 1);
}

#[test]
fn a_queue_that_shuts_down_takes_no_key() {
    let queue = WorkQueue::new("test");
    queue.add("in work");
    let ticket = take(&queue);
    queue.shut_down();
    queue.add("a");
    queue.add_background("b");
    queue.add_after("c", Duration::ZERO);
    queue.replace_after("d", Duration::from_secs(1));
    queue.add_rate_limited("e");
    queue.add("in work");
    queue.add_after("in work", Duration::ZERO);
    drop(ticket);
    assert_eq!(queue.depth(), Depth::default());
    assert!(queue.get().now_or_never().unwrap().is_none());
    assert_eq!(queue.snapshot().refused, 7);
    assert_eq!(queue.shut_down_now().refused, 7);
}

/// client-go's timer would have put it in line at 10 ms, for a worker that comes after the
/// shutdown too.
#[tokio::test(start_paused = true)]
async fn a_key_whose_delay_passed_in_work_is_served_after_the_shutdown() {
    let queue = WorkQueue::new("test");
    queue.add("due");
    queue.add("late");
    let (due, late) = (take(&queue), take(&queue));
    queue.add_after("due", Duration::from_millis(10));
    queue.add_after("late", Duration::from_millis(30));
    advance(Duration::from_millis(20)).await;
    let drain = queue.shut_down_with_drain(far());
    advance(Duration::from_millis(20)).await;
    drop((due, late));
    assert_eq!(*take(&queue), "due");
    assert!(queue.get().await.is_none());
    let drained = drain.await;
    assert_eq!((drained.completed, drained.dropped_delayed), (true, 1));
}

/// A zero delay is an add, and an add in work is served after the shutdown.
#[tokio::test]
async fn a_zero_delay_asked_for_in_work_is_served_after_the_shutdown() {
    let queue = WorkQueue::new("test");
    queue.add("foo");
    let ticket = take(&queue);
    queue.add_after("foo", Duration::ZERO);
    let drain = queue.shut_down_with_drain(far());
    drop(ticket);
    drop(take(&queue));
    assert_eq!(drain.await, ALL_DONE);
}

#[tokio::test(start_paused = true)]
async fn a_ticket_that_is_never_dropped_does_not_keep_a_drain_from_its_deadline() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    std::mem::forget(take(&queue));
    let deadline = Instant::now() + Duration::from_secs(25);
    let drained = queue.shut_down_with_drain(deadline).await;
    assert_eq!((drained.completed, drained.abandoned), (false, 1));
    assert_eq!(Instant::now(), deadline);
}

/// Whoever shuts down can say which keys were not looked at.
#[test]
fn the_first_abandoned_keys_have_names() {
    let queue = WorkQueue::new("test");
    queue.add_background("background".to_owned());
    for key in 1..=12 {
        queue.add(format!("key {key}"));
    }
    let tickets = (take(&queue), take(&queue));
    queue.add_after("delayed".to_owned(), Duration::from_secs(1));
    assert!(queue.abandoned_keys().is_empty());
    let drained = queue.shut_down_now();
    assert_eq!((drained.abandoned, drained.abandoned_in_work), (13, 2));
    drop(tickets);
    let expected: Vec<_> = (1..=10).map(|key| format!("key {key}")).collect();
    assert_eq!(queue.abandoned_keys(), expected);
}

#[tokio::test]
async fn a_drain_closes_the_intake_before_it_is_polled() {
    let queue = WorkQueue::new("test");
    let drain = queue.shut_down_with_drain(far());
    assert!(queue.is_shutting_down());
    queue.add(1);
    let drained = drain.await;
    assert_eq!((drained.completed, drained.refused), (true, 1));
    assert_eq!(queue.len(), 0);
}

/// BX-05
#[tokio::test]
async fn a_worker_that_panics_gives_its_key_back() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    let worker = queue.clone();
    let mut workers = JoinSet::new();
    workers.spawn(async move {
        let _ticket = worker.get().await;
        panic!("on purpose");
    });
    assert!(workers.join_next().await.unwrap().is_err());
    queue.add(1);
    assert_eq!(queue.len(), 1, "the key is free again");
    drop(take(&queue));
    assert_eq!(queue.shut_down_with_drain(far()).await, ALL_DONE);
}
