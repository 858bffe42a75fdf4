use std::error::Error;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::queue::{RateLimiter, WorkQueue};
use controller_core::worker::{
    Guarded, Outcome, PoolSummary, ReconcileError, ReconcileRequest, Reconciler, WorkerMetrics,
    WorkerPool,
};
use futures::FutureExt;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::time::sleep;
use tower::layer::layer_fn;
use tower::{Service, ServiceExt, service_fn};
use tracing::Level;

use super::scripted::{Key, Scripted, Step, queue, run_for, stop_after};

/// A limiter that panics whatever it is asked, but for the count.
struct Broken;

/// A service whose first clone panics.
struct Fragile<S> {
    inner: S,
    clones: Arc<AtomicUsize>,
}

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
async fn a_limiter_that_panics_costs_no_worker_and_no_key() {
    let (log, _guard) = CapturedLog::start(Level::ERROR);
    let queue = WorkQueue::builder("test").rate_limiter(Broken).build();
    queue.add("a");
    queue.add("b");
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("a", 0) => Step::Fail("once"),
        _ => Step::Done,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1);
    let (drained, summary) = tokio::join!(stop_after(60_000, &queue), pool.run());
    assert!(drained.completed);
    assert_eq!(reconciler.calls("a"), [0, 10_000]);
    let expected = PoolSummary {
        reconciled: 2,
        failed: 1,
        ..PoolSummary::default()
    };
    assert_eq!(summary, expected, "every call counts once");
    let said = messages(&log);
    insta::assert_snapshot!(said, @r"
    ERROR the rate limiter failed, the key is retried in 10s key=a error=panicked: on purpose
    ERROR the rate limiter failed, and may not have forgotten the key key=b error=panicked: on purpose
    ERROR the rate limiter failed, and may not have forgotten the key key=a error=panicked: on purpose
    ");
}

/// A key asks for another look, and the limiter panics when it is told that all is well.
#[tokio::test(start_paused = true)]
async fn a_limiter_that_cannot_forget_takes_no_look_away() {
    let queue = WorkQueue::builder("test").rate_limiter(Broken).build();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::RequeueAfter(1_000),
        1 => Step::GiveUp("for good"),
        _ => Step::Done,
    });
    let (drained, summary) = run_for(5_000, &queue, &reconciler, 1).await;
    assert!(drained.completed);
    assert_eq!(reconciler.calls("a"), [0, 1_000]);
    assert_eq!((summary.reconciled, summary.failed), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_service_that_panics_when_it_is_cloned_costs_one_try() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Done);
    let clones = Arc::new(AtomicUsize::new(0));
    let metrics = WorkerMetrics::default();
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 2)
        .metrics(&metrics)
        .layer(layer_fn(move |inner| Fragile {
            inner,
            clones: Arc::clone(&clones),
        }));
    let (drained, summary) = tokio::join!(stop_after(5_000, &queue), pool.run());
    assert!(drained.completed);
    assert_eq!(reconciler.calls("a"), [100]);
    assert_eq!((summary.panicked, summary.reconciled), (1, 1));
    assert!(panics_counted(&metrics, 1));
}

/// Whether it panics at once or in the middle.
#[tokio::test(start_paused = true)]
async fn a_layer_that_panics_costs_one_try() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Done);
    let metrics = WorkerMetrics::default();
    let broken = layer_fn(|inner: Guarded<Scripted>| {
        service_fn(move |request: ReconcileRequest<Key>| {
            let attempt = request.attempt();
            assert_ne!(attempt, 1, "at once");
            let call = inner.clone().oneshot(request).boxed();
            async move {
                tokio::task::yield_now().await;
                assert_ne!(attempt, 2, "in the middle");
                call.await
            }
        })
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .metrics(&metrics)
        .layer(broken);
    let (drained, summary) = tokio::join!(stop_after(5_000, &queue), pool.run());
    assert!(drained.completed);
    assert_eq!(reconciler.calls("a"), [300]);
    assert_eq!((summary.panicked, summary.reconciled), (2, 1));
    assert!(panics_counted(&metrics, 2));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_at_the_halt_does_not_hold_the_pool() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    let reconciler = Scripted::new(|_, _| Step::HangAndPanic);
    let (drained, summary) = run_for(0, &queue, &reconciler, 2).await;
    assert_eq!(drained.abandoned, 2);
    assert_eq!((summary.panicked, summary.cancelled), (2, 0));
}

/// It is a name in the log, and a key like any other in the queue.
#[tokio::test(start_paused = true)]
async fn a_key_that_panics_when_it_is_displayed_is_served_and_told_of() {
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Nameless;
    impl Display for Nameless {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("on purpose")
        }
    }
    struct Second(AtomicUsize);
    impl Reconciler for Second {
        type Key = Nameless;
        async fn reconcile(&self, _: &Nameless) -> Result<Outcome, ReconcileError> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => Err(ReconcileError::transient("not yet")),
                _ => Ok(Outcome::Done),
            }
        }
    }
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = WorkQueue::new("test");
    queue.add(Nameless);
    let pool = WorkerPool::new(queue.clone(), Arc::new(Second(AtomicUsize::new(0))), 1);
    let stop = async {
        sleep(Duration::from_secs(1)).await;
        queue.shut_down();
    };
    let (summary, ()) = tokio::join!(pool.run(), stop);
    assert_eq!((summary.failed, summary.reconciled), (1, 1));
    let said = messages(&log);
    insta::assert_snapshot!(said, @r#"reconcile failed key=<a key that panics when it is displayed> error="not yet""#);
}

#[tokio::test(start_paused = true)]
async fn an_error_that_panics_when_it_is_displayed_is_retried() {
    #[derive(Debug)]
    struct Speechless;
    impl Display for Speechless {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("on purpose")
        }
    }
    impl Error for Speechless {}
    struct Failing;
    impl Reconciler for Failing {
        type Key = Key;
        async fn reconcile(&self, _: &Key) -> Result<Outcome, ReconcileError> {
            Err(ReconcileError::transient(Speechless))
        }
    }
    let (log, _guard) = CapturedLog::start(Level::ERROR);
    let queue = queue();
    queue.add("a");
    let pool = WorkerPool::new(queue.clone(), Arc::new(Failing), 1);
    let (_, summary) = tokio::join!(stop_after(250, &queue), pool.run());
    assert_eq!(summary.failed, 2, "at 0 and 100 ms");
    let said = messages(&log);
    insta::assert_snapshot!(said, @r"
    ERROR reconcile failed, and so did telling why key=a error=panicked: on purpose
    ERROR reconcile failed, and so did telling why key=a error=panicked: on purpose
    ");
}

/// The lines without their spans.
fn messages(log: &CapturedLog) -> String {
    let text = log.text();
    let lines = text.lines().map(|line| match line.split_once("}: ") {
        Some((_, message)) => message,
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn panics_counted(metrics: &WorkerMetrics, count: usize) -> bool {
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).expect("a String takes everything");
    text.contains(&format!(
        "controller_runtime_reconcile_panics_total{{controller=\"test\"}} {count}\n"
    ))
}

// === impl Broken ===

impl RateLimiter<Key> for Broken {
    fn when(&self, _: &Key) -> Duration {
        panic!("on purpose")
    }

    fn forget(&self, _: &Key) {
        panic!("on purpose")
    }

    fn num_requeues(&self, _: &Key) -> u32 {
        0
    }
}

// === impl Fragile ===

impl<S: Clone> Clone for Fragile<S> {
    fn clone(&self) -> Self {
        assert_ne!(self.clones.fetch_add(1, Ordering::Relaxed), 0, "the first");
        Self {
            inner: self.inner.clone(),
            clones: Arc::clone(&self.clones),
        }
    }
}

impl<R, S: Service<R>> Service<R> for Fragile<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.inner.call(request)
    }
}
