use std::sync::Arc;
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::worker::layers::TimeoutLayer;
use controller_core::worker::{Guarded, Outcome, ReconcileError, ReconcileRequest, WorkerPool};
use futures::FutureExt;
use tokio::time::sleep;
use tower::layer::layer_fn;
use tower::{Service, ServiceExt, service_fn};
use tracing::Level;

use super::scripted::{Key, Scripted, Step, queue, run_for, stop_after};

const DEADLINE: Duration = Duration::from_millis(500);

#[tokio::test(start_paused = true)]
async fn a_call_past_its_deadline_is_dropped_and_retried() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Hang,
        _ => Step::Take(400),
    });
    let pool =
        WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1).reconcile_deadline(DEADLINE);
    let (_, summary) = tokio::join!(stop_after(5_000, &queue), pool.run());
    assert_eq!(reconciler.calls("a"), [0, 600]);
    assert_eq!(reconciler.under_way(), 0, "the call was dropped");
    assert_eq!((summary.failed, summary.reconciled), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_a_call_may_take_as_long_as_it_likes() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Take(3_600_500));
    let (drained, summary) = run_for(3_600_000, &queue, &reconciler, 1).await;
    assert!(drained.completed);
    assert_eq!((summary.failed, summary.reconciled), (0, 1));
}

/// A deadline that comes while the queue drains is a failure, not the drain's end.
#[tokio::test(start_paused = true)]
async fn a_deadline_during_a_drain_lets_the_drain_complete() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Hang);
    let pool =
        WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1).reconcile_deadline(DEADLINE);
    let (drained, summary) = tokio::join!(stop_after(0, &queue), pool.run());
    assert!(drained.completed);
    assert_eq!(drained.dropped_delayed, 1, "its retry");
    assert_eq!((summary.failed, summary.cancelled), (1, 0));
}

/// Waiting in a layer of the user's is no part of what the reconciler takes.
#[tokio::test(start_paused = true)]
async fn a_wait_in_a_layer_does_not_use_up_the_deadline() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Take(400));
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .layer(layer_fn(slow))
        .reconcile_deadline(DEADLINE);
    let (_, summary) = tokio::join!(stop_after(0, &queue), pool.run());
    assert_eq!((summary.failed, summary.reconciled), (0, 1));
    assert_eq!(reconciler.calls("a"), [400]);
}

/// Who wants that bounded too puts a timeout around the layer.
#[tokio::test(start_paused = true)]
async fn a_timeout_around_a_layer_bounds_its_wait() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Take(400));
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .layer(layer_fn(slow))
        .layer(TimeoutLayer::new(DEADLINE));
    let (_, summary) = tokio::join!(stop_after(0, &queue), pool.run());
    assert_eq!((summary.failed, summary.reconciled), (1, 0));
    let requests = reconciler.requests("a");
    assert!(requests[0].cancelled().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_told_even_where_errors_are_told_elsewhere() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = queue();
    queue.add("shop/web");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Hang,
        _ => Step::Done,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .reconcile_deadline(DEADLINE)
        .errors_are_told();
    tokio::join!(stop_after(5_000, &queue), pool.run());
    let text = log.text();
    let (_, line) = text.split_once(": ").unwrap();
    insta::assert_snapshot!(line, @r#"reconcile failed key=shop/web error="took longer than 500ms""#);
}

/// It is given up and counted like any other.
#[tokio::test(start_paused = true)]
async fn a_call_that_panics_when_it_is_given_up_comes_back() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::HangAndPanic,
        _ => Step::Done,
    });
    let pool =
        WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1).reconcile_deadline(DEADLINE);
    let (drained, summary) = tokio::join!(stop_after(5_000, &queue), pool.run());
    assert!(drained.completed);
    assert_eq!(reconciler.calls("a"), [0, 600]);
    assert_eq!(
        (summary.panicked, summary.failed, summary.reconciled),
        (1, 0, 1)
    );
}

/// Takes 400 ms before it calls.
fn slow(
    inner: Guarded<Scripted>,
) -> impl Service<ReconcileRequest<Key>, Response = Outcome, Error = ReconcileError, Future: Send>
+ Clone
+ Send
+ 'static {
    service_fn(move |request| {
        let call = inner.clone().oneshot(request).boxed();
        async move {
            sleep(Duration::from_millis(400)).await;
            call.await
        }
    })
}
