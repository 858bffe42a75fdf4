use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::worker::layers::{CatchPanicLayer, MetricsLayer, TimeoutLayer};
use controller_core::worker::{
    CallError, Guarded, Outcome, ReconcileError, ReconcileRequest, ReconcileService, WorkerMetrics,
    WorkerPool,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;
use tower::layer::layer_fn;
use tower::util::{MapErrLayer, MapRequestLayer};
use tower::{Layer, Service, ServiceExt, service_fn};
use tracing::Level;

use super::scripted::{Key, Scripted, Step, queue, stop_after};

type BoxError = Box<dyn Error + Send + Sync>;

/// Lets so many calls through at once, and boxes errors, as many a layer does.
struct Limit<S> {
    inner: S,
    places: PollSemaphore,
    place: Option<OwnedSemaphorePermit>,
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_is_not_ready_holds_calls_back() {
    let queue = queue();
    for key in ["a", "b", "c", "d"] {
        queue.add(key);
    }
    let reconciler = Scripted::new(|_, _| Step::Take(100));
    let places = Arc::new(Semaphore::new(2));
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 4)
        .layer(layer_fn(move |inner| Limit::new(inner, &places)));
    let (drained, summary) = tokio::join!(stop_after(0, &queue), pool.run());
    assert!(drained.completed);
    assert_eq!(summary.reconciled, 4);
    assert_eq!(reconciler.most_at_once(), 2);
}

/// A layer's boxed error still says whether to retry.
#[tokio::test(start_paused = true)]
async fn an_error_that_a_layer_boxed_is_still_terminal() {
    let queue = queue();
    queue.add("bad");
    queue.add("flaky");
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("bad", _) => Step::GiveUp("for good"),
        (_, 0) => Step::Fail("for now"),
        _ => Step::Done,
    });
    let places = Arc::new(Semaphore::new(2));
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .layer(layer_fn(move |inner| Limit::new(inner, &places)));
    tokio::join!(stop_after(5_000, &queue), pool.run());
    assert_eq!(reconciler.calls("bad"), [0]);
    assert_eq!(reconciler.calls("flaky"), [0, 100]);
}

/// A layer that fails by itself, in `poll_ready`.
#[tokio::test(start_paused = true)]
async fn an_error_of_the_layer_itself_is_retried() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Done);
    let places = Arc::new(Semaphore::new(1));
    places.close();
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .layer(layer_fn(move |inner| Limit::new(inner, &places)));
    let (_, summary) = tokio::join!(stop_after(250, &queue), pool.run());
    assert_eq!(summary.failed, 2, "at 0 and 100 ms");
    assert!(reconciler.calls("a").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_reconciler_is_a_service_by_itself() {
    let service = ReconcileService::new(Scripted::new(|_, _| Step::RequeueAfter(7)));
    let outcome = service.oneshot(ReconcileRequest::new("a")).await.unwrap();
    assert_eq!(outcome, Outcome::RequeueAfter(Duration::from_millis(7)));
}

/// The layer that was added last is the outermost, as the pool says.
#[tokio::test(start_paused = true)]
async fn layers_stand_in_the_order_in_which_they_were_added() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        MapRequestLayer::new(move |request: ReconcileRequest<Key>| {
            order.lock().push(name);
            request
        })
    };
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, _| Step::Done);
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1)
        .layer(note("inner"))
        .layer(note("middle"))
        .layer(note("outer"));
    tokio::join!(stop_after(0, &queue), pool.run());
    assert_eq!(*order.lock(), ["outer", "middle", "inner"]);
}

/// Panics and deadlines of the reconciler are errors to a layer of one's own, which may answer
/// for them.
#[tokio::test(start_paused = true)]
async fn a_layer_sees_panics_and_deadlines_as_errors() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let queue = queue();
    queue.add("boom");
    queue.add("slow");
    let reconciler = Scripted::new(|key, _| match key {
        "boom" => Step::Panic("on purpose"),
        _ => Step::Hang,
    });
    let errors = Arc::clone(&seen);
    let forgiving = layer_fn(move |inner: Guarded<Scripted>| {
        let errors = Arc::clone(&errors);
        service_fn(move |request: ReconcileRequest<Key>| {
            let errors = Arc::clone(&errors);
            let call = inner.clone().oneshot(request).boxed();
            async move {
                let error = call.await.unwrap_err();
                let text = CallError::of(&error).map(ToString::to_string);
                errors.lock().push(text.unwrap());
                Ok::<_, ReconcileError>(Outcome::Done)
            }
        })
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 2)
        .reconcile_deadline(Duration::from_millis(500))
        .layer(forgiving);
    let (_, summary) = tokio::join!(stop_after(0, &queue), pool.run());
    assert_eq!(
        *seen.lock(),
        ["panicked: on purpose", "took longer than 500ms"]
    );
    assert_eq!(
        (summary.reconciled, summary.panicked, summary.failed),
        (2, 0, 0)
    );
}

/// Many a layer puts an error of its own in the place of the one that it got. A panic is still
/// counted as one and told of, and stops what the call had handed over.
#[tokio::test(start_paused = true)]
async fn a_layer_that_rewrites_errors_hides_no_panic_and_no_deadline() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = queue();
    for key in ["boom", "fails", "slow"] {
        queue.add(key);
    }
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("boom", 0) => Step::Panic("on purpose"),
        ("fails", 0) => Step::Fail("for now"),
        ("slow", 0) => Step::Hang,
        _ => Step::Done,
    });
    let metrics = WorkerMetrics::default();
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 3)
        .reconcile_deadline(Duration::from_millis(50))
        .metrics(&metrics)
        .errors_are_told()
        .layer(MapErrLayer::new(|_: ReconcileError| {
            ReconcileError::transient("rewritten")
        }));
    let (_, summary) = tokio::join!(stop_after(1_000, &queue), pool.run());
    let counts = (summary.panicked, summary.failed, summary.reconciled);
    assert_eq!(counts, (1, 2, 3));
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for counted in ["errors_total", "panics_total", "timeouts_total"] {
        let series = format!("reconcile_{counted}{{controller=\"test\"}} ");
        let value = text.lines().find_map(|line| line.split_once(&series));
        let expected = if counted == "errors_total" { "3" } else { "1" };
        assert_eq!(value.map(|it| it.1), Some(expected), "{counted}");
    }
    let fired = |key| reconciler.requests(key)[0].cancelled().is_cancelled();
    assert_eq!(["boom", "fails", "slow"].map(fired), [true, false, true]);
    let told = log.text();
    let told = |key: &str| {
        told.lines()
            .any(|it| it.contains("reconcile failed") && it.contains(key))
    };
    assert_eq!(
        ["key=boom", "key=fails", "key=slow"].map(told),
        [true, false, true]
    );
}

/// A retry inside of a layer is a call of its own.
#[tokio::test(start_paused = true)]
async fn a_layer_that_tries_again_after_a_panic_has_the_second_answer() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Panic("on purpose"),
        1 => Step::Fail("for now"),
        _ => Step::Done,
    });
    let again = layer_fn(|inner: Guarded<Scripted>| {
        service_fn(move |request: ReconcileRequest<Key>| {
            let first = inner.clone().oneshot(request.clone()).boxed();
            let second = inner.clone().oneshot(request).boxed();
            async move {
                match first.await {
                    Ok(outcome) => Ok(outcome),
                    Err(_) => second.await,
                }
            }
        })
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1).layer(again);
    let (_, summary) = tokio::join!(stop_after(1_000, &queue), pool.run());
    let counts = (summary.panicked, summary.failed, summary.reconciled);
    assert_eq!(counts, (0, 1, 1));
}

/// The three that wait for readiness have it as a part of the call.
#[tokio::test(start_paused = true)]
async fn the_pool_s_layers_stand_alone_around_a_service_that_is_not_ready() {
    let places = Arc::new(Semaphore::new(0));
    let limited = Limit::new(
        ReconcileService::new(Scripted::new(|_, _| Step::Done)),
        &places,
    );
    let request = || ReconcileRequest::new("a");

    let bounded = TimeoutLayer::new(Duration::from_secs(1)).layer(limited.clone());
    let error = bounded.oneshot(request()).await.unwrap_err();
    assert!(matches!(
        CallError::of(&error),
        Some(CallError::DeadlineExceeded(_))
    ));

    let metrics = MetricsLayer::new(WorkerMetrics::default().controller("alone"));
    let caught = metrics.layer(CatchPanicLayer::new().layer(limited));
    let free = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        places.add_permits(1);
    };
    let (outcome, ()) = tokio::join!(caught.oneshot(request()), free);
    assert_eq!(outcome.unwrap(), Outcome::Done);
}

// === impl Limit ===

impl<S> Limit<S> {
    fn new(inner: S, places: &Arc<Semaphore>) -> Self {
        Self {
            inner,
            places: PollSemaphore::new(Arc::clone(places)),
            place: None,
        }
    }
}

impl<S: Clone> Clone for Limit<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            places: self.places.clone(),
            place: None,
        }
    }
}

impl<K, S> Service<K> for Limit<S>
where
    S: Service<K, Response = Outcome, Error = ReconcileError, Future: Send + 'static>,
{
    type Response = Outcome;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Outcome, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.places.poll_acquire(cx).map(|place| {
            self.place = Some(place.ok_or("the layer is closed")?);
            Ok(())
        })
    }

    fn call(&mut self, key: K) -> Self::Future {
        let place = self.place.take().expect("poll_ready comes first");
        let call = self.inner.call(key);
        async move {
            let _place = place;
            call.await.map_err(BoxError::from)
        }
        .boxed()
    }
}
