use std::fmt::{self, Display};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tower::{Layer, Service};
use tracing::Instrument;

use super::failure_log::FailureLog;
use super::reconciler::{Outcome, ReconcileError, Reconciler};
use super::service::ReconcileService;
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
pub struct WorkerPool<K, S> {
    queue: WorkQueue<K>,
    service: S,
    workers: usize,
    deadline: Option<Duration>,
    errors_are_told: bool,
}

/// How often the pool looks whether a summary of failures is due.
const SUM_UP_EVERY: Duration = Duration::from_secs(10);

// === impl WorkerPool ===

impl<R: Reconciler> WorkerPool<R::Key, ReconcileService<R>> {
    /// `workers` workers, at least one, that call `reconciler`.
    pub fn new(queue: WorkQueue<R::Key>, reconciler: Arc<R>, workers: usize) -> Self {
        Self {
            queue,
            service: ReconcileService::new(reconciler),
            workers: workers.max(1),
            deadline: None,
            errors_are_told: false,
        }
    }
}

impl<K, S> WorkerPool<K, S> {
    /// Puts a tower layer around every call. The layer added last is the outermost.
    ///
    /// The service is cloned for each call, and a key is in work while the clone is not
    /// ready. An error of the layer's own counts as transient; a [`ReconcileError`] that
    /// the layer boxed is found again.
    pub fn layer<L: Layer<S>>(self, layer: L) -> WorkerPool<K, L::Service> {
        WorkerPool {
            queue: self.queue,
            service: layer.layer(self.service),
            workers: self.workers,
            deadline: self.deadline,
            errors_are_told: self.errors_are_told,
        }
    }

    /// How long one call may take. After that it is dropped, and its key is retried as
    /// after a failure. No limit if it is not set.
    ///
    /// A dropped call stops at its last await; what must not be cut there, such as a
    /// write that was sent, has to live in a task of its own.
    pub fn reconcile_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Says that the reconciler, or a layer, tells people of the errors that it returns,
    /// in its own words: here they are logged at `debug` only. Panics and deadlines, which
    /// it cannot know of, are told as ever.
    pub fn errors_are_told(mut self) -> Self {
        self.errors_are_told = true;
        self
    }
}

impl<K, S> WorkerPool<K, S>
where
    K: Clone + Eq + Hash + Send + Sync + Display + 'static,
    S: Service<K, Response = Outcome, Error: Into<ReconcileError>, Future: Send>
        + Clone
        + Send
        + 'static,
{
    /// Starts the workers, and returns when all have ended: the queue was shut down and
    /// is empty, or it was halted and the calls under way were dropped.
    ///
    /// Dropping the future stops the workers at their next await.
    pub async fn run(self) -> PoolSummary {
        let worker = Worker {
            queue: self.queue,
            service: self.service,
            deadline: self.deadline,
            errors_are_told: self.errors_are_told,
            log: Arc::new(FailureLog::new()),
            tally: Arc::new(Mutex::new(PoolSummary::default())),
        };
        let mut workers = JoinSet::new();
        let start = |workers: &mut JoinSet<()>| {
            workers.spawn(worker.clone().run().in_current_span());
        };
        for _ in 0..self.workers {
            start(&mut workers);
        }
        let mut sum_up = interval(SUM_UP_EVERY);
        sum_up.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                joined = workers.join_next() => match joined {
                    None => break,
                    Some(Ok(())) => {}
                    // Calls are isolated, so this is a limiter or a key that panicked.
                    Some(Err(error)) => {
                        tracing::error!(%error, "a worker ended, another takes its place");
                        worker.tally.lock().panicked += 1;
                        start(&mut workers);
                    }
                },
                _ = sum_up.tick() => worker.log.sum_up(),
            }
        }
        worker.log.flush();
        *worker.tally.lock()
    }
}

impl<K, S> fmt::Debug for WorkerPool<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPool")
            .field("queue", &self.queue)
            .field("workers", &self.workers)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
