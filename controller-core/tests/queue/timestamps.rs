//! When keys came and went, for those who want to know.
use std::time::Duration;

use controller_core::queue::{Durations, WorkQueue};
use tokio::time::advance;

use super::basics::take;

#[tokio::test(start_paused = true)]
async fn a_ticket_says_how_long_its_key_waited() {
    let queue = WorkQueue::builder("test").timestamps().build();
    queue.add("a");
    advance(ms(10)).await;
    queue.add("a"); // the first add counts
    advance(ms(10)).await;
    let ticket = take(&queue);
    assert_eq!(ticket.queued_for(), Some(ms(20)));

    queue.add("a"); // in work: counts from now
    advance(ms(30)).await;
    drop(ticket);
    advance(ms(5)).await;
    assert_eq!(take(&queue).queued_for(), Some(ms(35)));
}

/// The wait begins when the delay is over, and not when somebody looks.
#[tokio::test(start_paused = true)]
async fn a_delay_is_no_wait() {
    let queue = WorkQueue::builder("test").timestamps().build();
    queue.add_after("a", ms(100));
    advance(ms(140)).await;
    let ticket = take(&queue);
    assert_eq!(ticket.queued_for(), Some(ms(40)));

    queue.add_after("a", ms(10));
    advance(ms(30)).await;
    drop(ticket);
    assert_eq!(take(&queue).queued_for(), Some(ms(20)));
}

#[tokio::test(start_paused = true)]
async fn a_live_add_of_a_background_key_does_not_begin_its_wait_anew() {
    let queue = WorkQueue::builder("test").timestamps().build();
    queue.add_background("a");
    advance(ms(10)).await;
    queue.add("a");
    assert_eq!(take(&queue).queued_for(), Some(ms(10)));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_names_the_keys_in_work_and_since_when() {
    let queue = WorkQueue::builder("test").timestamps().build();
    queue.add("a");
    queue.add("b");
    let _a = take(&queue);
    advance(ms(10)).await;
    let b = take(&queue);
    advance(ms(5)).await;
    let mut busy: Vec<_> = queue.snapshot().in_work;
    busy.sort_by_key(|it| it.item);
    let busy: Vec<_> = busy.iter().map(|it| (it.item, it.busy_for)).collect();
    assert_eq!(busy, [("a", Some(ms(15))), ("b", Some(ms(5)))]);

    drop(b);
    let snapshot = queue.snapshot();
    let sums = (snapshot.queue_durations, snapshot.work_durations);
    let sums = (sums.0.unwrap(), sums.1.unwrap());
    assert_eq!((sums.0.count(), sums.0.sum()), (2, ms(10)));
    assert_eq!((sums.1.count(), sums.1.sum()), (1, ms(5)));
}

/// No reading of the clock that nobody asked for.
#[tokio::test(start_paused = true)]
async fn without_timestamps_no_time_is_noted() {
    let queue = WorkQueue::new("test");
    queue.add("a");
    queue.add_after("b", ms(10));
    advance(ms(10)).await;
    let tickets = [take(&queue), take(&queue)];
    assert!(tickets.iter().all(|it| it.queued_for().is_none()));
    let snapshot = queue.snapshot();
    assert_eq!(snapshot.queue_durations, None::<Durations>);
    assert!(snapshot.in_work.iter().all(|it| it.busy_for.is_none()));
    assert_eq!((snapshot.adds, snapshot.retries), (2, 1));
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
