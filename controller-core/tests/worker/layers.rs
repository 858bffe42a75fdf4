use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use controller_core::worker::{Outcome, ReconcileError, ReconcileService, WorkerPool};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;
use tower::layer::layer_fn;
use tower::{Service, ServiceExt};

use crate::scripted::{Scripted, Step, queue, stop_after};

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
    let outcome = service.oneshot("a").await.unwrap();
    assert_eq!(outcome, Outcome::RequeueAfter(Duration::from_millis(7)));
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
