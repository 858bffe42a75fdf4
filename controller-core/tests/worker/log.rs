//! What a person sees while reconciles fail.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::queue::WorkQueue;
use controller_core::worker::{Outcome, ReconcileError, Reconciler, WorkerPool};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tracing::Level;

use super::scripted::{Scripted, Step, queue, run_for, stop_after};

#[tokio::test(start_paused = true)]
async fn a_failure_is_logged_once_until_its_message_changes() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = queue();
    queue.add("shop/web");
    let reconciler = Scripted::new(|_, before| match before {
        0..3 => Step::Fail("the server said no"),
        3 => Step::Fail("the server is gone"),
        4 => Step::Panic("index out of bounds"),
        5 => Step::GiveUp("no such field"),
        _ => Step::Done,
    });
    run_for(60_000, &queue, &reconciler, 1).await;
    insta::assert_snapshot!(text(&log), @r#"
    WARN reconcile{queue="test" key=shop/web attempt=1 reconcileID=ID}: reconcile failed key=shop/web error="the server said no"
    WARN reconcile{queue="test" key=shop/web attempt=4 reconcileID=ID}: reconcile failed key=shop/web error="the server is gone"
    WARN reconcile{queue="test" key=shop/web attempt=5 reconcileID=ID}: reconcile failed key=shop/web error="panicked: index out of bounds"
    WARN reconcile{queue="test" key=shop/web attempt=6 reconcileID=ID}: reconcile failed and is not retried key=shop/web error="no such field"
    WARN more reconciles failed, the last of them with this error failing=1 failures=2 key=shop/web error="the server said no"
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_over_is_not_summed_up() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = queue();
    queue.add("shop/web");
    let reconciler = Scripted::new(|_, before| match before {
        0..3 => Step::Fail("conflict"),
        _ => Step::Done,
    });
    run_for(60_000, &queue, &reconciler, 1).await;
    insta::assert_snapshot!(
        text(&log),
        @r#"WARN reconcile{queue="test" key=shop/web attempt=1 reconcileID=ID}: reconcile failed key=shop/web error="conflict""#
    );
}

/// A reconciler that tells of its errors itself must not have them told twice; of its
/// panics it knows nothing.
#[tokio::test(start_paused = true)]
async fn errors_that_are_told_elsewhere_are_not_told_again() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = queue();
    queue.add("shop/web");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Fail("the server said no"),
        1 => Step::Panic("index out of bounds"),
        _ => Step::GiveUp("no such field"),
    });
    let pool = WorkerPool::new(queue.clone(), reconciler, 1).errors_are_told();
    let (_, summary) = tokio::join!(stop_after(60_000, &queue), pool.run());
    assert_eq!((summary.failed, summary.panicked), (2, 1));
    insta::assert_snapshot!(
        text(&log),
        @r#"WARN reconcile{queue="test" key=shop/web attempt=2 reconcileID=ID}: reconcile failed key=shop/web error="panicked: index out of bounds""#
    );
}

/// The cause of a cause is told, and each once.
#[tokio::test(start_paused = true)]
async fn a_failure_is_logged_with_its_causes() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot scale")]
    struct CannotScale(#[source] io::Error);
    struct Failing;
    impl Reconciler for Failing {
        type Key = String;
        async fn reconcile(&self, _: &String) -> Result<Outcome, ReconcileError> {
            Err(ReconcileError::terminal(CannotScale(io::Error::other(
                "connection reset",
            ))))
        }
    }
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = WorkQueue::new("deployments");
    queue.add("shop/web".to_owned());
    queue.shut_down();
    WorkerPool::new(queue, Arc::new(Failing), 1).run().await;
    insta::assert_snapshot!(
        text(&log),
        @r#"WARN reconcile{queue="deployments" key=shop/web attempt=1 reconcileID=ID}: reconcile failed and is not retried key=shop/web error="cannot scale: connection reset""#
    );
}

/// C-28: every write fails for 20 s, with 200 objects waiting, and each message names its
/// object.
#[tokio::test(start_paused = true)]
async fn two_hundred_failing_keys_are_a_few_lines_and_recover() {
    struct Outage {
        start: Instant,
        tries: Mutex<Vec<u32>>,
        raised: Mutex<Vec<Duration>>,
    }
    impl Reconciler for Outage {
        type Key = usize;
        async fn reconcile(&self, key: &usize) -> Result<Outcome, ReconcileError> {
            sleep(Duration::from_millis(2)).await;
            let at = self.start.elapsed();
            if at < Duration::from_secs(20) {
                self.tries.lock()[*key] += 1;
                let message = format!("scale web-{key}: etcdserver: mvcc: database space exceeded");
                return Err(ReconcileError::transient(message));
            }
            self.raised.lock().push(at);
            Ok(Outcome::Done)
        }
    }
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = WorkQueue::new("deployments");
    (0..200).for_each(|key| queue.add_background(key));
    let outage = Arc::new(Outage {
        start: Instant::now(),
        tries: Mutex::new(vec![0; 200]),
        raised: Mutex::default(),
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&outage), 2);
    let stop = async {
        sleep(Duration::from_secs(45)).await;
        queue.shut_down();
    };
    tokio::join!(pool.run(), stop);

    let most = outage.tries.lock().iter().copied().max().unwrap();
    assert!(most <= 14, "{most} tries of one object");
    let raised = outage.raised.lock();
    assert_eq!(raised.len(), 200);
    assert!(raised.iter().all(|at| *at <= Duration::from_secs(45)));
    let lines = text(&log).lines().count();
    assert!((2..=50).contains(&lines), "{lines} lines:\n{}", text(&log));
}

/// What fails for hours is not forgotten, and no flood: the summaries come further and
/// further apart.
#[tokio::test(start_paused = true)]
async fn a_lasting_failure_is_summed_up_less_and_less_often() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = queue();
    queue.add("shop/web");
    let reconciler = Scripted::new(|_, _| Step::Fail("the server said no"));
    run_for(3_600_000, &queue, &reconciler, 1).await;
    let lines = text(&log).lines().count();
    assert!((8..=14).contains(&lines), "{lines} lines:\n{}", text(&log));
}

/// Without the ids, which are others each time.
fn text(log: &CapturedLog) -> String {
    let text = log.text();
    let mut parts = text.split("reconcileID=");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (id, rest) = part.split_at(36);
        assert_eq!(id.matches('-').count(), 4, "{id}");
        steady = steady + "reconcileID=ID" + rest;
    }
    steady
}
