//! What a call is told besides its key.

use std::sync::Arc;
use std::time::Duration;

use controller_core::queue::{RateLimiter, WorkQueue};
use controller_core::worker::{ReconcileRequest, WorkerPool};
use tokio::time::timeout;

use super::scripted::{Key, Scripted, Step, queue, run_for, stop_after};

struct EverySecond;

#[tokio::test(start_paused = true)]
async fn attempts_count_from_one_and_begin_anew_after_a_success() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("b", _) => Step::Done,
        (_, 0 | 1) => Step::Fail("not yet"),
        (_, 2 | 4) => Step::RequeueAfter(50),
        (_, 3) => Step::Panic("on purpose"),
        _ => Step::Done,
    });
    run_for(5_000, &queue, &reconciler, 1).await;
    let attempts = |key| attempts(&reconciler.requests(key));
    assert_eq!(attempts("a"), [1, 2, 3, 1, 2, 1]);
    assert_eq!(attempts("b"), [1]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_after_a_terminal_error_is_a_first_one() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Fail("for now"),
        1 => Step::GiveUp("for good"),
        _ => Step::Done,
    });
    let change = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        queue.add("a");
    };
    tokio::join!(run_for(2_000, &queue, &reconciler, 1), change);
    assert_eq!(attempts(&reconciler.requests("a")), [1, 2, 1]);
}

/// An event during the wait after a failure is the next attempt all the same.
#[tokio::test(start_paused = true)]
async fn an_event_does_not_make_it_a_first_attempt() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Fail("for now"),
        _ => Step::Done,
    });
    let event = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        queue.add("a");
    };
    tokio::join!(run_for(1_000, &queue, &reconciler, 1), event);
    assert_eq!(reconciler.calls("a"), [0, 20]);
    assert_eq!(attempts(&reconciler.requests("a")), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_limiter_that_cannot_count_makes_each_attempt_the_first() {
    struct Uncounted;
    impl RateLimiter<Key> for Uncounted {
        fn when(&self, _: &Key) -> Duration {
            Duration::from_millis(10)
        }
        fn forget(&self, _: &Key) {}
        fn num_requeues(&self, _: &Key) -> u32 {
            panic!("on purpose")
        }
    }
    let queue = WorkQueue::builder("test").rate_limiter(Uncounted).build();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Fail("for now"),
        _ => Step::Done,
    });
    run_for(100, &queue, &reconciler, 1).await;
    assert_eq!(attempts(&reconciler.requests("a")), [1, 1]);
}

/// Behind another key, after the wait of a retry, and of an event while it was in work.
#[tokio::test(start_paused = true)]
async fn a_call_knows_how_long_its_key_was_in_line() {
    let queue = WorkQueue::builder("test")
        .rate_limiter(EverySecond)
        .timestamps()
        .build();
    queue.add("first");
    queue.add("second");
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("first", 0) => Step::Take(100),
        ("second", 0) => Step::Fail("for now"),
        ("second", 1) => Step::Take(200),
        _ => Step::Done,
    });
    let event = async {
        tokio::time::sleep(Duration::from_millis(1_250)).await;
        queue.add("second");
    };
    tokio::join!(run_for(5_000, &queue, &reconciler, 1), event);
    assert_eq!(queued_for(&reconciler.requests("first")), [Some(0)]);
    assert_eq!(reconciler.calls("second"), [100, 1_100, 1_300]);
    let second = queued_for(&reconciler.requests("second"));
    assert_eq!(second, [Some(100), Some(0), Some(50)]);
}

#[tokio::test(start_paused = true)]
async fn a_queue_without_timestamps_does_not_say_how_long() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Done);
    run_for(0, &queue, &reconciler, 1).await;
    assert_eq!(queued_for(&reconciler.requests("a")), [None]);
}

/// The token is for what outlives the call: whoever returned has handed over.
#[tokio::test(start_paused = true)]
async fn the_token_does_not_fire_for_a_call_that_answered() {
    let queue = queue();
    for key in ["done", "fails", "gives up", "comes again"] {
        queue.add(key);
    }
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("fails", 0) => Step::Fail("for now"),
        ("gives up", _) => Step::GiveUp("for good"),
        ("comes again", 0) => Step::RequeueAfter(10),
        _ => Step::Take(10),
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 2)
        .reconcile_deadline(Duration::from_secs(1));
    tokio::join!(stop_after(5_000, &queue), pool.run());
    queue.shut_down_now();
    for (key, fired) in [
        ("done", &[false][..]),
        ("fails", &[false, false]),
        ("gives up", &[false]),
        ("comes again", &[false, false]),
    ] {
        assert_eq!(tokens(&reconciler.requests(key)), fired, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_token_fires_when_the_queue_is_halted() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Hang);
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1);
    let early = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        tokens(&reconciler.requests("a"))
    };
    let (_, _, early) = tokio::join!(stop_after(0, &queue), pool.run(), early);
    assert_eq!(early, [false]);
    assert_eq!(tokens(&reconciler.requests("a")), [true]);
}

#[tokio::test(start_paused = true)]
async fn the_token_fires_at_the_deadline_and_for_that_try_alone() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Hang,
        _ => Step::Done,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .reconcile_deadline(Duration::from_millis(500));
    tokio::join!(stop_after(5_000, &queue), pool.run());
    assert_eq!(tokens(&reconciler.requests("a")), [true, false]);
}

#[tokio::test(start_paused = true)]
async fn the_token_fires_after_a_panic() {
    for deadline in [None, Some(Duration::from_secs(1))] {
        let queue = queue();
        queue.add("a");
        let reconciler = Scripted::new(|_, before| match before {
            0 => Step::Panic("on purpose"),
            _ => Step::Done,
        });
        let pool =
            WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1).reconcile_deadline(deadline);
        tokio::join!(stop_after(5_000, &queue), pool.run());
        assert_eq!(tokens(&reconciler.requests("a")), [true, false]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_token_fires_when_the_pool_is_dropped() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Hang);
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1);
    assert!(timeout(Duration::from_secs(1), pool.run()).await.is_err());
    tokio::task::yield_now().await;
    assert_eq!(tokens(&reconciler.requests("a")), [true]);
}

fn attempts(requests: &[ReconcileRequest<Key>]) -> Vec<u32> {
    requests.iter().map(ReconcileRequest::attempt).collect()
}

fn queued_for(requests: &[ReconcileRequest<Key>]) -> Vec<Option<u128>> {
    let millis = |it: &ReconcileRequest<Key>| it.queued_for().map(|it| it.as_millis());
    requests.iter().map(millis).collect()
}

fn tokens(requests: &[ReconcileRequest<Key>]) -> Vec<bool> {
    let fired = |it: &ReconcileRequest<Key>| it.cancelled().is_cancelled();
    requests.iter().map(fired).collect()
}

// === impl EverySecond ===

impl RateLimiter<Key> for EverySecond {
    fn when(&self, _: &Key) -> Duration {
        Duration::from_secs(1)
    }

    fn forget(&self, _: &Key) {}

    fn num_requeues(&self, _: &Key) -> u32 {
        0
    }
}
