use std::sync::Arc;
use std::time::Duration;

use controller_core::worker::WorkerPool;
use tokio::time::{Instant, timeout};

use super::scripted::{Scripted, Step, queue, run_for, stop_after};

#[tokio::test(start_paused = true)]
async fn keys_in_line_are_worked_off_before_the_pool_ends() {
    let queue = queue();
    for key in ["a", "b", "c", "d", "e"] {
        queue.add(key);
    }
    queue.add_after("later", Duration::from_secs(30));
    let reconciler = Scripted::new(|_, _| Step::Take(100));
    let start = Instant::now();
    let (drained, summary) = run_for(0, &queue, &reconciler, 2).await;
    assert_eq!(start.elapsed(), Duration::from_millis(300));
    assert!(drained.completed);
    assert_eq!(drained.dropped_delayed, 1);
    assert_eq!(summary.reconciled, 5);
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_calls_are_dropped_and_no_key_is_begun() {
    let queue = queue();
    for key in ["a", "b", "c", "d"] {
        queue.add(key);
    }
    let reconciler = Scripted::new(|key, _| match key {
        "a" => Step::Done,
        _ => Step::Hang,
    });
    let start = Instant::now();
    let (drained, summary) = run_for(0, &queue, &reconciler, 2).await;
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert!(!drained.completed);
    assert_eq!(drained.abandoned, 3, "two in work, one in line");
    assert_eq!((summary.reconciled, summary.cancelled), (1, 2));
    assert_eq!(reconciler.under_way(), 0, "no call outlives the pool");
    assert!(reconciler.calls("d").is_empty());
}

#[tokio::test(start_paused = true)]
async fn workers_start_when_told_and_not_before() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Done);
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 2);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(reconciler.calls("a").is_empty());
    tokio::join!(stop_after(0, &queue), pool.run());
    assert_eq!(reconciler.calls("a"), [1_000]);
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_dropped_leaves_no_call_behind() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    let reconciler = Scripted::new(|_, _| Step::Hang);
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 2);
    assert!(timeout(Duration::from_secs(1), pool.run()).await.is_err());
    tokio::task::yield_now().await;
    assert_eq!(reconciler.most_at_once(), 2);
    assert_eq!(reconciler.under_way(), 0);
    assert_eq!(queue.depth().in_work, 0);
}
