use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::distributor::{Distributor, Sink};
use super::lifecycle::{Lifecycle, Running};
use super::run::Run;
use super::slot::{Seat, Slot};
use super::{HandlerHealth, Health, InformerOptions, Registration};
use crate::client::ResourceType;
use crate::handler::{EventHandler, Processor};
use crate::store::{IndexExists, Lister, cache};
use crate::watch::{FirstList, Object, Reflector, ReflectorStatus, WatchOptions};

/// One watch and one cache of a kind, shared by any number of handlers and readers.
///
/// A clone is the same informer. It runs while [`run`](Self::run) does, once at a time and as
/// often as one likes; see there for what outlives the end of a run.
///
/// ```
/// use controller_core::client::{ClientOptions, ObjectKey, Scope, layered};
/// use controller_core::controllers::min_replicas::Deployment;
/// use controller_core::handler::HandlerFuncs;
/// use controller_core::informer::{InformerOptions, SharedInformer};
/// use controller_core::watch::WatchOptions;
/// use tokio_util::sync::CancellationToken;
/// # use sim_apiserver::SimApiServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = SimApiServer::builder().start().await?;
/// # server.seed(serde_json::json!({
/// #     "apiVersion": "apps/v1", "kind": "Deployment",
/// #     "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3},
/// # }));
/// # let client = layered(server.service(), &ClientOptions::new("example/1.0"));
/// let options = InformerOptions::new(WatchOptions::new(Scope::All));
/// let informer = SharedInformer::<Deployment>::new(client, Deployment::RESOURCE, options);
/// let handler = informer.add_handler(HandlerFuncs::new().on_add(
///     |new: &std::sync::Arc<Deployment>, initial| assert!(initial && new.replicas() == 3),
/// ));
///
/// let shutdown = CancellationToken::new();
/// tokio::join!(informer.run(shutdown.clone()), async {
///     assert!(handler.synced().await);
///     let web = informer.lister().get(&ObjectKey::namespaced("default", "web"));
///     assert_eq!(web.map(|web| web.replicas()), Some(3));
///     shutdown.cancel();
/// });
/// assert_eq!(handler.panics(), 0);
/// # server.shutdown().await;
/// # Ok(())
/// # }
/// ```
///
/// Listers and registrations outlive the run: after the end the cache holds what it held
/// last, and [`status`](Self::status) says that it is no longer kept. Stop the readers first.
///
/// The dangerous mistake is to forget [`run`](Self::run), or to await something that needs
/// the cache before it is polled: handlers can be added, listers read, and nothing happens.
pub struct SharedInformer<T> {
    inner: Arc<Inner<T>>,
}

/// All of it outlives the runs.
struct Inner<T> {
    client: kube::Client,
    resource: ResourceType,
    /// For the next run.
    watch: Mutex<WatchOptions>,
    buffer: usize,
    stop_within: Duration,
    distributor: Arc<Distributor<T>>,
    /// Each run's reflector reports here and goes on where the last one ended.
    status: watch::Sender<ReflectorStatus>,
    lifecycle: watch::Sender<Lifecycle>,
}

// === impl SharedInformer ===

impl<T: Object> SharedInformer<T> {
    /// Nothing is sent before [`run`](Self::run).
    pub fn new(client: kube::Client, resource: ResourceType, options: InformerOptions<T>) -> Self {
        let (writer, lister) = cache(options.indexes);
        let distributor = Distributor::new(writer, lister, options.transform);
        Self {
            inner: Arc::new(Inner {
                client,
                resource,
                watch: Mutex::new(options.watch),
                buffer: options.buffer,
                stop_within: options.stop_within,
                distributor: Arc::new(distributor),
                status: watch::Sender::default(),
                lifecycle: watch::Sender::default(),
            }),
        }
    }

    /// Runs until `shutdown`, then waits for the call under way of every handler, but not for
    /// longer than [`InformerOptions::stop_within`]: a handler that hangs is named in the log
    /// and left behind. A second call while the first one runs returns at once.
    ///
    /// It may be called again when it has returned. Handlers, registrations, listers, indexes
    /// and receivers of the status go on as if nothing had been. It begins with a list, and
    /// accepts none that is older than what the cache holds; what went during the pause is
    /// told as deleted, and what a handler had not heard before the pause it hears now, as a
    /// net change if need be. Resync intervals begin anew. Until that list is there the cache
    /// is that of the last run, and
    /// [`listed_this_run`](crate::watch::ReflectorStatus::listed_this_run) is false.
    ///
    /// In a controller cancel `shutdown` last: after the queue has been drained, so that the
    /// last decisions are made from a fresh cache. A token of its own, as in the example on
    /// the [front page](crate#write-your-own-controller), makes that order plain.
    ///
    /// Dropping the future ends the watch, and the handlers' tasks after the call that is
    /// under way, which it does not wait for.
    pub async fn run(&self, shutdown: CancellationToken) {
        match Running::begin(&self.inner.lifecycle) {
            Some(running) => self.run_as(running, shutdown, |_| ()).await,
            None => tracing::error!(resource = %self.inner.resource, "informer runs already"),
        }
    }

    /// As [`run`](Self::run), but after the run that is under way. That may be one whose future
    /// was dropped with the task that owned it, and which is not gone yet. `begun` is told the
    /// number that this run will have in the status, before it is there.
    pub(super) async fn run_next(&self, shutdown: CancellationToken, begun: impl FnOnce(u64)) {
        loop {
            // Also where the end has come first: the status is to say so.
            if let Some(running) = Running::begin(&self.inner.lifecycle) {
                return self.run_as(running, shutdown, begun).await;
            }
            if shutdown.run_until_cancelled(self.ended()).await.is_none() {
                return;
            }
        }
    }

    async fn run_as(
        &self,
        _running: Running,
        shutdown: CancellationToken,
        begun: impl FnOnce(u64),
    ) {
        let inner = &*self.inner;
        let (client, resource) = (inner.client.clone(), inner.resource.clone());
        let watch = inner.watch.lock().clone();
        // It counts itself, and there is no other one meanwhile.
        begun(inner.status.borrow().run + 1);
        let reflector = Reflector::<T>::new(client, resource, watch).resume(inner.status.clone());
        let run = Run {
            resource: &inner.resource,
            distributor: &inner.distributor,
            stop_within: inner.stop_within,
        };
        let sink = Sink(Arc::clone(&inner.distributor));
        run.until(Box::pin(reflector.run(sink, shutdown))).await;
    }

    /// Reads the cache.
    pub fn lister(&self) -> Lister<T> {
        self.inner.distributor.lister().clone()
    }

    /// Adds an index, at any time. It is complete when this returns, also over what the
    /// cache holds already. The function is pure and quick; a panic in it leaves the
    /// object out of this index and is counted.
    ///
    /// # Errors
    ///
    /// If there is an index of that name.
    pub fn add_index(
        &self,
        name: &'static str,
        function: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Result<(), IndexExists> {
        let lister = self.inner.distributor.lister();
        lister.add_index(name, Box::new(function))
    }

    /// The kind that is watched.
    pub fn resource(&self) -> &ResourceType {
        &self.inner.resource
    }

    /// How the watch is doing: whether there was a list, and what went wrong last. The
    /// receiver can be waited on, by any number of tasks, over any number of runs. It does not
    /// end with a run; who waits for something looks for
    /// [`State::Stopped`](crate::watch::State::Stopped) too.
    pub fn status(&self) -> watch::Receiver<ReflectorStatus> {
        self.inner.status.subscribe()
    }

    /// How watch, cache and handlers are doing just now.
    pub fn health(&self) -> Health {
        let lister = self.inner.distributor.lister();
        let slots = self.inner.distributor.slots();
        let handlers = slots.iter().map(|slot| {
            let pace = slot.pace();
            HandlerHealth {
                name: slot.name().into_owned(),
                synced: slot.has_synced(),
                pending: pace.pending,
                lag: pace.lag,
                panics: slot.panics(),
            }
        });
        Health {
            resource: self.inner.resource.clone(),
            status: self.inner.status.borrow().clone(),
            objects: lister.len(),
            quarantined: lister.quarantined(),
            hides_objects: lister.hides_objects(),
            handlers: handlers.collect(),
        }
    }

    /// Whether the first list is in the cache. Handlers may still be behind: see
    /// [`Registration::has_synced`].
    ///
    /// It stays true over a stop and a start: the cache holds what it held, which may be old
    /// by then. After a start `status().borrow().listed_this_run` says whether it is new, and
    /// so [`SharedInformerFactory::synced`](super::SharedInformerFactory::synced) answers.
    pub fn has_synced(&self) -> bool {
        self.inner.distributor.is_synced()
    }

    /// Whether a [`run`](Self::run) is under way.
    pub fn is_running(&self) -> bool {
        *self.inner.lifecycle.borrow() == Lifecycle::Running
    }

    /// Whether the last [`run`](Self::run) has ended, with all tasks of handlers. Not so
    /// before the first one.
    pub fn is_stopped(&self) -> bool {
        *self.inner.lifecycle.borrow() == Lifecycle::Stopped
    }

    /// Adds a handler, at any time. It first hears of every object that the cache holds, as
    /// initial, and it hears while the informer runs: added before, or after the end of a run,
    /// it hears from the next run on.
    pub fn add_handler(&self, handler: impl EventHandler<T>) -> Registration {
        self.register(Arc::new(handler), None)
    }

    /// As [`add_handler`](Self::add_handler); every `period` the handler hears of every
    /// object of the cache again. Nothing is asked of the server for that: a resync finds
    /// what the handler or its controller forgot, not what the watch missed.
    ///
    /// Each handler has its own period, and a tick is left out for as long as the handler
    /// has something unheard: a resync never adds to a backlog. Its keys go to the
    /// background band. A period of minutes to hours is usual; a controller that needs one
    /// to be right has a bug that the resync hides.
    ///
    /// # Panics
    ///
    /// If `period` is zero.
    pub fn add_handler_with_resync(
        &self,
        handler: impl EventHandler<T>,
        period: Duration,
    ) -> Registration {
        // Here and not in the handler's task, which nobody would see panic.
        assert!(!period.is_zero(), "a resync period of zero");
        self.register(Arc::new(handler), Some(period))
    }

    fn register(
        &self,
        handler: Arc<dyn EventHandler<T>>,
        resync: Option<Duration>,
    ) -> Registration {
        let distributor = &self.inner.distributor;
        let processor = Processor::new(handler, self.inner.buffer, resync);
        let slot = Arc::new(Slot::new(processor, distributor));
        distributor.join(&slot);
        Registration {
            seat: slot,
            lifecycle: self.inner.lifecycle.subscribe(),
        }
    }

    /// Waits until no [`run`](Self::run) is under way.
    pub(super) async fn ended(&self) {
        let mut lifecycle = self.inner.lifecycle.subscribe();
        // The sender is ours.
        let _ = lifecycle.wait_for(|now| *now != Lifecycle::Running).await;
    }

    /// Somebody else who shares it wants the first list of each run to be as new as this. It is
    /// never less new than somebody wanted.
    pub(super) fn want(&self, first_list: FirstList) {
        let mut watch = self.inner.watch.lock();
        if first_list == FirstList::Any || watch.first_list == first_list {
            return;
        }
        watch.first_list = first_list;
        // A run that begins after this look takes what has just been written.
        if self.is_running() {
            tracing::warn!(
                resource = %self.inner.resource,
                "the most recent first list was asked for during a run; the next one begins with it"
            );
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl<T> Clone for SharedInformer<T> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<T: Object> fmt::Debug for SharedInformer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer")
            .field("resource", &self.inner.resource)
            .field("lister", self.inner.distributor.lister())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
