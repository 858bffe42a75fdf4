//! A tower layer of one's own around the workers, and what they count.
//!
//! ```text
//! cargo run -p controller-core --example layers
//! ```
//!
//! Two teams share a controller. The layer [`PerNamespace`] sees to it that none of them has
//! more than two calls under way, so that a namespace with many objects leaves workers to the
//! others.
#![expect(clippy::print_stdout, reason = "an example is for who runs it")]

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use controller_core::client::ObjectKey;
use controller_core::queue::WorkQueue;
use controller_core::worker::{
    Outcome, ReconcileError, ReconcileRequest, Reconciler, WorkerMetrics, WorkerPool,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::time::{Instant, sleep};
use tower::{Layer, Service, ServiceExt};

/// What happened, and after how many milliseconds.
#[derive(Clone)]
pub(crate) struct Told {
    start: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

/// Lets so many calls of one namespace through at once, and sends the others back.
///
/// It does not wait for a place. A call that waits keeps its worker, and a worker that waits
/// for `shop` does nothing for `office`: the very thing that the limit is to prevent. An
/// answer of [`Outcome::NotYet`] lets the worker go, and leaves the key's failures counted.
#[derive(Clone)]
struct PerNamespace {
    limit: usize,
    told: Told,
    under_way: Arc<Mutex<HashMap<String, usize>>>,
}

/// The service of [`PerNamespace`].
#[derive(Clone)]
struct Limited<S> {
    inner: S,
    layer: PerNamespace,
}

/// A call that has a place. It is free again when this is dropped, whatever became of the call:
/// an answer, an error, a deadline, a shutdown.
struct Place {
    namespace: String,
    under_way: Arc<Mutex<HashMap<String, usize>>>,
}

/// Takes 100 ms for each object, and does nothing.
struct Slow {
    told: Told,
}

const SENT_BACK_FOR: Duration = Duration::from_millis(50);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let told = Told::new();
    let metrics = demonstrate(told.clone()).await;
    for line in told.all() {
        println!("{line}");
    }
    let interesting = |line: &&str| !line.starts_with('#') && !line.contains("_bucket");
    println!();
    for line in metrics.lines().filter(interesting) {
        println!("{line}");
    }
}

/// Reconciles five objects of `shop` and one of `office`, which came last. Returns what a
/// scrape says at the end.
pub(crate) async fn demonstrate(told: Told) -> String {
    let mut registry = Registry::default();
    let metrics = WorkerMetrics::default();
    metrics.register(&mut registry);

    let queue = WorkQueue::new("slow");
    for name in ["a", "b", "c", "d", "e"] {
        queue.add(ObjectKey::namespaced("shop", name));
    }
    queue.add(ObjectKey::namespaced("office", "plan"));

    let reconciler = Arc::new(Slow { told: told.clone() });
    let pool = WorkerPool::new(queue.clone(), reconciler, 3)
        .metrics(&metrics)
        .reconcile_deadline(Duration::from_secs(5))
        .layer(PerNamespace::new(2, told));
    let shutdown = async {
        sleep(Duration::from_millis(500)).await;
        queue.shut_down();
    };
    tokio::join!(pool.run(), shutdown);

    let mut text = String::new();
    encode(&mut text, &registry).expect("a String takes everything");
    text
}

// === impl Told ===

impl Told {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            lines: Arc::default(),
        }
    }

    fn tell(&self, what: &str) {
        let at = self.start.elapsed().as_millis();
        self.lines.lock().push(format!("{at:>4} ms  {what}"));
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.lines.lock().clone()
    }
}

// === impl PerNamespace ===

impl PerNamespace {
    fn new(limit: usize, told: Told) -> Self {
        Self {
            limit,
            told,
            under_way: Arc::default(),
        }
    }

    fn place_in(&self, namespace: &str) -> Option<Place> {
        let mut under_way = self.under_way.lock();
        let count = under_way.entry(namespace.to_owned()).or_default();
        if *count == self.limit {
            return None;
        }
        *count += 1;
        Some(Place {
            namespace: namespace.to_owned(),
            under_way: Arc::clone(&self.under_way),
        })
    }
}

impl<S> Layer<S> for PerNamespace {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Limited<S> {
        let layer = self.clone();
        Limited { inner, layer }
    }
}

// === impl Limited ===

impl<S> Service<ReconcileRequest<ObjectKey>> for Limited<S>
where
    S: Service<ReconcileRequest<ObjectKey>, Response = Outcome, Future: Send>
        + Clone
        + Send
        + 'static,
    S::Error: Into<ReconcileError> + Send,
{
    type Response = Outcome;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Outcome, S::Error>>;

    // Which namespace it is about is not known before `call`.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ReconcileRequest<ObjectKey>) -> Self::Future {
        let Self { inner, layer } = self.clone();
        async move {
            let namespace = request.namespace().unwrap_or_default();
            let Some(_place) = layer.place_in(namespace) else {
                layer.told.tell(&format!("{request} is sent back"));
                return Ok(Outcome::NotYet(SENT_BACK_FOR));
            };
            inner.oneshot(request).await
        }
        .boxed()
    }
}

// === impl Place ===

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(count) = self.under_way.lock().get_mut(&self.namespace) {
            *count -= 1;
        }
    }
}

// === impl Slow ===

impl Reconciler for Slow {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Outcome, ReconcileError> {
        self.told.tell(&format!("{key} begins"));
        sleep(Duration::from_millis(100)).await;
        self.told.tell(&format!("{key} is done"));
        Ok(Outcome::Done)
    }
}
