use std::sync::Arc;
use std::time::Duration;

use controller_core::queue::{RateLimiter, WorkQueue};
use controller_core::worker::WorkerPool;

use crate::scripted::{Key, Scripted, Step, queue, run_for, stop_after};

/// BX-05
#[tokio::test(start_paused = true)]
async fn a_panic_costs_one_try_and_no_worker() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("a", 0 | 1) => Step::Panic("on purpose"),
        _ => Step::Done,
    });
    let (drained, summary) = run_for(5_000, &queue, &reconciler, 1).await;
    assert_eq!(reconciler.calls("a"), [0, 100, 300]);
    assert_eq!(reconciler.calls("b"), [0]);
    assert!(drained.completed);
    assert_eq!((summary.panicked, summary.reconciled), (2, 2));
    assert_eq!(summary.failed, 0);
}

/// BX-05: the drain waits for a key whose call panics, and is not stuck on it.
#[tokio::test(start_paused = true)]
async fn a_panic_while_the_queue_drains_does_not_hold_the_drain() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Panic("on purpose"));
    let (drained, summary) = run_for(0, &queue, &reconciler, 2).await;
    assert!(drained.completed);
    assert_eq!(drained.dropped_delayed, 1, "its retry");
    assert_eq!(summary.panicked, 1);
}

/// A limiter of the user's own is called outside the isolated call.
#[tokio::test(start_paused = true)]
async fn a_limiter_that_panics_costs_no_worker() {
    struct Broken;
    impl RateLimiter<Key> for Broken {
        fn when(&self, _: &Key) -> Duration {
            panic!("on purpose")
        }
        fn forget(&self, _: &Key) {}
        fn num_requeues(&self, _: &Key) -> u32 {
            0
        }
    }
    let queue = WorkQueue::builder("test").rate_limiter(Broken).build();
    queue.add("a");
    queue.add("b");
    let reconciler = Scripted::new(|key, _| match key {
        "a" => Step::Fail("once"),
        _ => Step::Done,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1);
    let (drained, summary) = tokio::join!(stop_after(1_000, &queue), pool.run());
    assert!(drained.completed);
    assert_eq!((summary.panicked, summary.reconciled), (1, 1));
}
