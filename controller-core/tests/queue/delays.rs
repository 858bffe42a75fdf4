use std::time::Duration;

use controller_core::handler::Band;
use controller_core::queue::WorkQueue;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, sleep, timeout};

use super::basics::take;

/// DQ-01
#[tokio::test(start_paused = true)]
async fn a_delayed_key_comes_once_and_not_before_its_time() {
    let queue = WorkQueue::new("test");
    queue.add_after("foo", ms(50));
    assert_eq!(queue.len(), 0);
    advance(ms(60)).await;
    assert_eq!(queue.len(), 1);
    assert_eq!(*take(&queue), "foo");
    advance(Duration::from_secs(10)).await;
    assert_eq!(queue.len(), 0);
}

/// DQ-02, DQ-02b
#[tokio::test(start_paused = true)]
async fn of_two_delays_the_earlier_counts_whichever_came_first() {
    for (first, second, due) in [(50, 70, 50), (50, 30, 30)] {
        let queue = WorkQueue::new("test");
        queue.add_after("foo", ms(first));
        queue.add_after("foo", ms(second));
        advance(ms(due - 1)).await;
        assert_eq!(queue.len(), 0);
        advance(ms(1)).await;
        assert_eq!(*take(&queue), "foo");
        advance(ms(100)).await;
        assert_eq!(queue.len(), 0, "came twice");
    }
}

/// DQ-03
#[tokio::test(start_paused = true)]
async fn keys_come_in_the_order_of_their_deadlines() {
    let queue = WorkQueue::new("test");
    queue.add_after("foo", Duration::from_secs(1));
    queue.add_after("bar", ms(50));
    advance(ms(60)).await;
    assert_eq!(*take(&queue), "bar");
    queue.add_after("baz", Duration::from_secs(2));
    advance(Duration::from_secs(1)).await;
    assert_eq!(*take(&queue), "foo");
    advance(Duration::from_secs(2)).await;
    assert_eq!(*take(&queue), "baz");
}

/// DQ-04; and keys of one deadline come in the order they were added.
#[tokio::test(start_paused = true)]
async fn keys_due_at_once_come_in_the_order_of_their_deadlines() {
    let queue = WorkQueue::new("test");
    queue.add_after("fourth", ms(1000));
    queue.add_after("fifth", ms(1000));
    queue.add_after("second", ms(500));
    queue.add_after("first", ms(250));
    queue.add_after("third", ms(500));
    advance(Duration::from_secs(2)).await;
    for expected in ["first", "second", "third", "fourth", "fifth"] {
        assert_eq!(*take(&queue), expected);
    }
}

/// BX-06: in client-go the old deadline fires once more.
#[tokio::test(start_paused = true)]
async fn an_add_is_the_end_of_a_delay() {
    let queue = WorkQueue::new("test");
    queue.add_after("foo", Duration::from_secs(30));
    queue.add("foo");
    drop(take(&queue));
    advance(Duration::from_secs(60)).await;
    assert_eq!(queue.len(), 0);

    queue.add("foo");
    let ticket = take(&queue);
    queue.add_after("foo", Duration::from_secs(30));
    queue.add("foo"); // while it is in work
    drop(ticket);
    drop(take(&queue));
    advance(Duration::from_secs(60)).await;
    assert_eq!(queue.len(), 0);
}

/// A key in line is served before the delay is over, so there is nothing to wait for.
#[tokio::test(start_paused = true)]
async fn a_delay_of_a_key_in_line_is_over_when_it_is_served() {
    let queue = WorkQueue::new("test");
    queue.add("foo");
    queue.add_after("foo", Duration::from_secs(30));
    queue.replace_after("foo", Duration::from_secs(30));
    assert_eq!((queue.len(), queue.depth().delayed), (1, 0));
}

/// BX-07: client-go can shorten a delay only (kubernetes #133560).
#[tokio::test(start_paused = true)]
async fn replace_after_postpones_and_shortens() {
    let queue = WorkQueue::new("test");
    queue.add_after("foo", ms(50));
    for _ in 0..1000 {
        queue.replace_after("foo", ms(80));
    }
    assert_eq!(queue.depth().delayed, 1, "one key, one deadline");
    advance(ms(79)).await;
    assert_eq!(queue.len(), 0);
    queue.replace_after("foo", ms(1));
    advance(ms(1)).await;
    assert_eq!(*take(&queue), "foo");
}

/// BX-07
#[tokio::test(start_paused = true)]
async fn cancel_takes_a_delay_away_and_nothing_else() {
    let queue = WorkQueue::new("test");
    assert!(!queue.cancel(&"foo"));
    queue.add_after("foo", ms(50));
    assert!(queue.cancel(&"foo"));
    assert!(!queue.cancel(&"foo"));
    advance(ms(100)).await;
    assert_eq!(queue.len(), 0);

    queue.add("foo");
    assert!(!queue.cancel(&"foo"), "in line is no delay");
    let ticket = take(&queue);
    queue.add_after("foo", ms(50));
    assert!(queue.cancel(&"foo"), "asked for while in work");
    drop(ticket);
    advance(ms(100)).await;
    assert_eq!(queue.len(), 0);
}

/// A key in work whose delay has passed would be in line if it were not in work: there is no
/// delay left to postpone or to take away.
#[tokio::test(start_paused = true)]
async fn a_delay_that_passed_in_work_can_be_neither_postponed_nor_cancelled() {
    for change in [
        |queue: &WorkQueue<&'static str>| queue.replace_after("foo", Duration::from_secs(3600)),
        |queue: &WorkQueue<&'static str>| assert!(!queue.cancel(&"foo")),
    ] {
        let queue = WorkQueue::new("test");
        queue.add("foo");
        let ticket = take(&queue);
        queue.add_after("foo", ms(10));
        advance(ms(20)).await;
        change(&queue);
        drop(ticket);
        assert_eq!((queue.len(), queue.depth().delayed), (1, 0));
    }
}

/// It names no band, so it does not change that of a key in line.
#[tokio::test(start_paused = true)]
async fn a_delay_of_zero_keeps_the_band_that_a_key_has() {
    let queue = WorkQueue::new("test");
    queue.add_background("in line");
    queue.add_after("in line", Duration::ZERO);
    queue.add_background("in work");
    queue.add_after("unknown", Duration::ZERO);
    assert_eq!((queue.depth().live, queue.depth().background), (1, 2));
    let bands: Vec<_> = (0..3).map(|_| take(&queue).band()).collect();
    assert_eq!(bands, [Band::Live, Band::Background, Band::Background]);
}

/// kubernetes #112325: nothing is left behind by delays that are over.
#[tokio::test(start_paused = true)]
async fn a_million_delays_of_a_thousand_keys_are_a_thousand_delays() {
    let queue = WorkQueue::new("test");
    for round in 0..500 {
        for key in 0..1_000_u32 {
            queue.add_after(key, ms(u64::from(60_000 - key)));
            queue.replace_after(key, ms(60_000 + round));
        }
        assert_eq!(queue.depth().delayed, 1_000);
    }
    advance(ms(60_499)).await;
    let keys: Vec<_> = (0..1_000).map(|_| *take(&queue)).collect();
    assert!(
        keys.is_sorted(),
        "of one deadline, in the order of the calls"
    );
    advance(Duration::from_secs(3600)).await;
    assert_eq!(queue.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_delay_asked_for_in_work_counts_from_then_on() {
    let queue = WorkQueue::new("test");
    queue.add("foo");
    let ticket = take(&queue);
    queue.add_after("foo", ms(50));
    advance(ms(40)).await;
    drop(ticket);
    assert_eq!((queue.len(), queue.depth().delayed), (0, 1));
    advance(ms(10)).await;
    assert_eq!(queue.len(), 1);

    let ticket = take(&queue);
    queue.add_after("foo", ms(50));
    advance(ms(60)).await;
    drop(ticket);
    assert_eq!(queue.len(), 1, "its time passed while it was in work");
}

#[tokio::test(start_paused = true)]
async fn a_delay_of_zero_is_an_add() {
    let queue = WorkQueue::new("test");
    queue.add_after("foo", Duration::ZERO);
    assert_eq!(queue.len(), 1);
    queue.replace_after("bar", Duration::ZERO);
    assert_eq!(queue.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_longest_duration_is_a_delay_like_another() {
    let queue = WorkQueue::new("test");
    queue.add_after("foo", Duration::MAX);
    let wait = timeout(Duration::from_secs(3600), queue.get()).await;
    assert!(wait.is_err());
    queue.replace_after("foo", ms(1));
    assert_eq!(*queue.get().await.unwrap(), "foo");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_get_returns_at_the_deadline() {
    let queue = WorkQueue::new("test");
    let start = Instant::now();
    queue.add_after("foo", ms(50));
    assert_eq!(*queue.get().await.unwrap(), "foo");
    assert_eq!(start.elapsed(), ms(50));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_get_heeds_a_deadline_that_comes_later_and_is_due_earlier() {
    let queue = WorkQueue::new("test");
    let start = Instant::now();
    queue.add_after("late", Duration::from_secs(60));
    let (ticket, ()) = tokio::join!(queue.get(), async {
        queue.add_after("early", ms(20));
    });
    assert_eq!(*ticket.unwrap(), "early");
    assert_eq!(start.elapsed(), ms(20));
}

#[tokio::test(start_paused = true)]
async fn a_get_that_waits_already_heeds_the_first_deadline() {
    let queue = WorkQueue::new("test");
    let start = Instant::now();
    let wait = timeout(Duration::from_secs(60), queue.get());
    let (ticket, ()) = tokio::join!(wait, async { queue.add_after("foo", ms(20)) });
    assert_eq!(*ticket.unwrap().unwrap(), "foo");
    assert_eq!(start.elapsed(), ms(20));
}

/// The worker that kept the time is busy with the first key when the second is due.
#[tokio::test(start_paused = true)]
async fn the_next_deadline_is_kept_while_the_first_key_is_in_work() {
    let queue = WorkQueue::new("test");
    queue.add_after("first", ms(10));
    queue.add_after("second", ms(20));
    let start = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..2 {
        let get = queue.get();
        workers.spawn(async move {
            let _ticket = get.await.unwrap();
            let at = start.elapsed();
            sleep(Duration::from_secs(60)).await;
            at
        });
    }
    let mut began = workers.join_all().await;
    began.sort_unstable();
    assert_eq!(began, [ms(10), ms(20)]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_passes_to_another_get_when_its_keeper_is_dropped() {
    let queue = WorkQueue::new("test");
    queue.add_after("delayed", ms(50));
    let mut workers = JoinSet::new();
    let keeper = workers.spawn(queue.get());
    tokio::task::yield_now().await;
    workers.spawn(queue.get());
    tokio::task::yield_now().await;
    keeper.abort();
    assert!(workers.join_next().await.unwrap().is_err());
    let other = timeout(Duration::from_secs(60), workers.join_next()).await;
    assert_eq!(*other.unwrap().unwrap().unwrap().unwrap(), "delayed");
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
