use std::sync::Arc;
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::worker::{PoolSummary, ReconcileRequest, WorkerPool};
use tokio::time::sleep;
use tracing::Level;

use super::scripted::{Key, Scripted, Step, queue, run_for};

#[tokio::test(start_paused = true)]
async fn a_key_that_is_done_leaves_and_its_failures_are_forgotten() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 | 1 => Step::Fail("not yet"),
        _ => Step::Done,
    });
    let (drained, summary) = run_for(5_000, &queue, &reconciler, 2).await;
    assert_eq!(reconciler.calls("a"), [0, 100, 300]);
    assert_eq!(queue.num_requeues(&"a"), 0);
    assert!(drained.completed);
    let expected = PoolSummary {
        reconciled: 1,
        failed: 2,
        ..PoolSummary::default()
    };
    assert_eq!(summary, expected);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_asks_for_another_look_gets_it_and_starts_afresh() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        1 => Step::RequeueAfter(1_000),
        3 => Step::Done,
        _ => Step::Fail("not yet"),
    });
    run_for(5_000, &queue, &reconciler, 1).await;
    // The wait after the second failure is the first one again.
    assert_eq!(reconciler.calls("a"), [0, 100, 1_100, 1_200]);
}

/// As a look that a resync causes while the wait after a failure goes on.
#[tokio::test(start_paused = true)]
async fn a_look_that_comes_too_early_keeps_the_failures() {
    let (log, _guard) = CapturedLog::start(Level::DEBUG);
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        2 => Step::NotYet(1_000),
        4 => Step::Done,
        _ => Step::Fail("not yet"),
    });
    run_for(5_000, &queue, &reconciler, 1).await;
    // The wait after the third failure is the third one.
    assert_eq!(reconciler.calls("a"), [0, 100, 300, 1_300, 1_700]);
    let attempts: Vec<_> = reconciler
        .requests("a")
        .iter()
        .map(ReconcileRequest::attempt)
        .collect();
    assert_eq!(attempts, [1, 2, 3, 3, 4]);
    let again = "reconcile succeeded again";
    assert_eq!(log.text().matches(again).count(), 1, "{}", log.text());
}

#[tokio::test(start_paused = true)]
async fn an_event_comes_before_the_look_that_was_asked_for() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::RequeueAfter(1_000),
        _ => Step::Done,
    });
    let event = async {
        sleep(Duration::from_millis(400)).await;
        queue.add("a");
    };
    tokio::join!(run_for(5_000, &queue, &reconciler, 1), event);
    assert_eq!(reconciler.calls("a"), [0, 400]);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_is_not_retried_until_the_object_changes() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Fail("for now"),
        _ => Step::GiveUp("for good"),
    });
    let change = async {
        sleep(Duration::from_secs(3)).await;
        queue.add("a");
    };
    let ((_, summary), ()) = tokio::join!(run_for(9_000, &queue, &reconciler, 1), change);
    assert_eq!(reconciler.calls("a"), [0, 100, 3_000]);
    assert_eq!(queue.num_requeues(&"a"), 0);
    assert_eq!(summary.failed, 3);
}

#[tokio::test(start_paused = true)]
async fn as_many_keys_are_in_work_as_there_are_workers_and_no_key_twice() {
    const KEYS: [Key; 6] = ["a", "b", "c", "d", "e", "f"];
    let queue = queue();
    let reconciler = Scripted::new(|_, _| Step::Take(10));
    let events = async {
        for _ in 0..50 {
            KEYS.into_iter().for_each(|key| queue.add(key));
            sleep(Duration::from_millis(3)).await;
        }
    };
    let ((drained, summary), ()) = tokio::join!(run_for(500, &queue, &reconciler, 4), events);
    assert_eq!(reconciler.most_at_once(), 4);
    assert!(drained.completed);
    let calls: usize = KEYS.iter().map(|key| reconciler.calls(key).len()).sum();
    assert_eq!(summary.reconciled, calls as u64);
}

#[tokio::test(start_paused = true)]
async fn no_workers_are_one_worker() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    let reconciler = Scripted::new(|_, _| Step::Take(10));
    let (drained, summary) = run_for(0, &queue, &reconciler, 0).await;
    assert!(drained.completed);
    assert_eq!(summary.reconciled, 2);
    assert_eq!(reconciler.most_at_once(), 1);
}

/// A reconciler that never waits must not keep a thread for itself.
#[tokio::test(start_paused = true)]
async fn a_reconciler_that_never_waits_lets_others_run() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::RequeueAfter(0));
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1);
    let stop = async {
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        queue.shut_down();
    };
    let (summary, ()) = tokio::join!(pool.run(), stop);
    assert!(summary.reconciled > 1);
}
