use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tower::layer::util::{Identity, Stack};
use tower::{Layer, Service};
use tracing::Instrument;

use super::layers::{CatchPanic, CatchPanicLayer, MetricsLayer, SpanLayer, Timeout, TimeoutLayer};
use super::metrics::{ControllerMetrics, WorkerMetrics};
use super::reconciler::{Outcome, ReconcileError, Reconciler};
use super::request::ReconcileRequest;
use super::service::ReconcileService;
use super::settle::{Settle, Settler};
use super::summary::PoolSummary;
use super::worker_loop::Worker;
use crate::queue::WorkQueue;

/// Workers over one queue: each takes a key, has it reconciled, and settles it.
///
/// Made first and started later: [`run`](Self::run) is called once the caches that the
/// reconciler reads have synced, for a reconciler that sees half a cache acts on
/// objects that it takes for gone. Nothing but the caller sees to that.
///
/// ```
/// use std::sync::Arc;
/// use controller_core::queue::WorkQueue;
/// use controller_core::worker::{Outcome, ReconcileError, Reconciler, WorkerPool};
/// use tokio::time::{Duration, Instant};
///
/// struct Greeter;
///
/// impl Reconciler for Greeter {
///     type Key = String;
///
///     async fn reconcile(&self, key: &String) -> Result<Outcome, ReconcileError> {
///         assert_eq!(key, "shop/web");
///         Ok(Outcome::Done)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = WorkQueue::new("greeter");
/// queue.add("shop/web".to_owned());
///
/// let pool = WorkerPool::new(queue.clone(), Arc::new(Greeter), 2);
/// let deadline = Instant::now() + Duration::from_secs(25);
/// let (drained, summary) = tokio::join!(queue.shut_down_with_drain(deadline), pool.run());
/// assert!(drained.completed);
/// assert_eq!(summary.reconciled, 1);
/// # }
/// ```
#[must_use = "a pool does nothing until `run`"]
pub struct WorkerPool<R: Reconciler, L = Identity> {
    queue: WorkQueue<R::Key>,
    reconciler: Arc<R>,
    workers: usize,
    deadline: Option<Duration>,
    errors_are_told: bool,
    metrics: Option<ControllerMetrics>,
    layer: L,
}

/// What the layers of a [`WorkerPool`] are put around: a reconciler whose panics and deadlines
/// are errors.
pub type Guarded<R> = Timeout<CatchPanic<ReconcileService<R>>>;

/// How long a worker that panicked has no successor.
const PAUSE: Duration = Duration::from_secs(1);

/// How often the pool looks whether a summary of failures is due.
const SUM_UP_EVERY: Duration = Duration::from_secs(10);

// === impl WorkerPool ===

impl<R: Reconciler> WorkerPool<R> {
    /// `workers` workers, at least one, that call `reconciler`.
    pub fn new(queue: WorkQueue<R::Key>, reconciler: Arc<R>, workers: usize) -> Self {
        Self {
            queue,
            reconciler,
            workers: workers.max(1),
            deadline: None,
            errors_are_told: false,
            metrics: None,
            layer: Identity::new(),
        }
    }
}

impl<R: Reconciler, L> WorkerPool<R, L> {
    /// Puts a tower layer around every call. The layer added last is the outermost; where all
    /// of them are among the pool's own, see [`layers`](super::layers).
    ///
    /// The service is cloned for each call, and a key is in work while the clone is not
    /// ready. An error of the layer's own counts as transient; a [`ReconcileError`] that
    /// the layer boxed is found again.
    pub fn layer<N: Layer<L::Service>>(self, layer: N) -> WorkerPool<R, Stack<L, N>>
    where
        L: Layer<Guarded<R>>,
    {
        WorkerPool {
            queue: self.queue,
            reconciler: self.reconciler,
            workers: self.workers,
            deadline: self.deadline,
            errors_are_told: self.errors_are_told,
            metrics: self.metrics,
            layer: Stack::new(self.layer, layer),
        }
    }

    /// How long one call of the reconciler may take. After that it is dropped, and its key is
    /// retried as after a failure. No limit if it is not set.
    ///
    /// A dropped call stops at its last await; what must not be cut there, such as a
    /// write that was sent, has to live in a task of its own. Waits in layers do not count.
    pub fn reconcile_deadline(mut self, deadline: impl Into<Option<Duration>>) -> Self {
        self.deadline = deadline.into();
        self
    }

    /// Says that the reconciler, or a layer, tells people of the errors that it returns,
    /// in its own words: here they are logged at `debug` only. Panics and deadlines, which
    /// it cannot know of, are told as ever.
    pub fn errors_are_told(mut self) -> Self {
        self.errors_are_told = true;
        self
    }

    /// Counts calls there, under the queue's [`controller`](WorkQueue::controller).
    pub fn metrics(mut self, metrics: &WorkerMetrics) -> Self {
        self.metrics = Some(metrics.controller(self.queue.controller()));
        self
    }

    /// Starts the workers, and returns when all have ended: the queue was shut down and
    /// is empty, or it was halted and the calls under way were dropped.
    ///
    /// Dropping the future stops the workers at their next await. Their keys go back in line,
    /// for a pool that serves the queue later.
    pub async fn run(self) -> PoolSummary
    where
        L: Layer<Guarded<R>>,
        L::Service: Service<
                ReconcileRequest<R::Key>,
                Response = Outcome,
                Error: Into<ReconcileError>,
                Future: Send,
            > + Clone
            + Send
            + 'static,
    {
        let metrics = self
            .metrics
            .unwrap_or_else(|| WorkerMetrics::default().controller(self.queue.controller()));
        metrics.set_workers(self.workers);
        let settler = Arc::new(Settler::new(self.queue.clone(), self.errors_are_told));

        // From the inside to the outside, as `layers` tells it.
        let service = CatchPanicLayer::new().layer(ReconcileService::new(self.reconciler));
        let service = TimeoutLayer::new(self.deadline).layer(service);
        let service = self.layer.layer(service);
        let service = MetricsLayer::new(metrics).layer(service);
        let service = Settle::new(service, Arc::clone(&settler));
        let service = SpanLayer::new(self.queue.name()).layer(service);

        let queue = self.queue.clone();
        let halted = move || queue.halted();
        let worker = Worker::new(self.queue, service);
        let mut workers = JoinSet::new();
        for _ in 0..self.workers {
            workers.spawn(worker.clone().run().in_current_span());
        }
        let mut sum_up = interval(SUM_UP_EVERY);
        sum_up.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                joined = workers.join_next() => match joined {
                    None => break,
                    Some(Ok(())) => {}
                    // Calls and their settling are isolated, and what is done with the key too,
                    // so this is one that panics when it is dropped.
                    Some(Err(error)) => {
                        tracing::error!(%error, "a worker ended, another takes its place");
                        let (halted, worker) = (halted(), worker.clone());
                        workers.spawn(async move {
                            // The next one may end as fast.
                            _ = timeout(PAUSE, halted).await;
                            worker.run().await;
                        }.in_current_span());
                    }
                },
                _ = sum_up.tick() => settler.log.sum_up(),
            }
        }
        settler.log.flush();
        settler.summary()
    }
}

impl<R: Reconciler, L> fmt::Debug for WorkerPool<R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPool")
            .field("queue", &self.queue)
            .field("workers", &self.workers)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
