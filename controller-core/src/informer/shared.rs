use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::transform::Transform;
use super::{InformerOptions, Registration};
use crate::client::ResourceType;
use crate::handler::{EventHandler, Mailbox, Processor};
use crate::store::{CacheWriter, Delta, IndexExists, Lister, cache};
use crate::watch::{EventSink, Object, Reflector, ReflectorStatus, WatchEvent};

/// One watch and one cache of a kind, shared by any number of handlers and readers.
///
/// A clone is the same informer. It runs once, by [`run`](Self::run); whoever needs it
/// again makes a new one.
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
/// last, and nothing tells its readers that it is no longer kept. Stop the readers first.
///
/// The dangerous mistake is to forget [`run`](Self::run), or to await something that needs
/// the cache before it is polled: handlers can be added, listers read, and nothing happens.
pub struct SharedInformer<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    resource: ResourceType,
    /// Reads the cache that `distributor` writes. It has a lock of its own, so that readers
    /// never wait for the distribution.
    lister: Lister<T>,
    status: watch::Receiver<ReflectorStatus>,
    buffer: usize,
    transform: Option<Transform<T>>,
    distributor: Mutex<Distributor<T>>,
    /// Taken by the one call of `run`.
    reflector: Mutex<Option<Reflector<T>>>,
    /// The handlers' tasks. Closed and awaited when the reflector has ended.
    handlers: TaskTracker,
    /// Every registration has a child of it.
    stopped: CancellationToken,
}

/// The cache's writer and the handlers' mailboxes under one lock: a handler that joins
/// sees each object exactly once, from the replay or from an event.
struct Distributor<T> {
    writer: CacheWriter<T>,
    mailboxes: Vec<(CancellationToken, Arc<Mailbox<T>>)>,
}

struct Sink<T>(Arc<Inner<T>>);

// === impl SharedInformer ===

impl<T: Object> SharedInformer<T> {
    /// Nothing is sent before [`run`](Self::run).
    pub fn new(client: kube::Client, resource: ResourceType, options: InformerOptions<T>) -> Self {
        let (writer, lister) = cache(options.indexes);
        let reflector = Reflector::new(client, resource.clone(), options.watch);
        Self {
            inner: Arc::new(Inner {
                resource,
                lister,
                status: reflector.status(),
                buffer: options.buffer,
                transform: options.transform,
                distributor: Mutex::new(Distributor {
                    writer,
                    mailboxes: Vec::new(),
                }),
                reflector: Mutex::new(Some(reflector)),
                handlers: TaskTracker::new(),
                stopped: CancellationToken::new(),
            }),
        }
    }

    /// Runs until `shutdown`, then waits for the last call of every handler. What
    /// handlers have not heard by then is dropped.
    ///
    /// A second call returns at once.
    ///
    /// In a controller cancel `shutdown` last: after the queue has been drained, so that the
    /// last decisions are made from a fresh cache. A token of its own, as in the example on
    /// the [front page](crate#write-your-own-controller), makes that order plain.
    ///
    /// Dropping the future ends the watch but not the handlers' tasks, which wait for more
    /// until their [`Registration`]s are removed: end it by the token.
    pub async fn run(&self, shutdown: CancellationToken) {
        let Some(reflector) = self.inner.reflector.lock().take() else {
            tracing::error!(resource = %self.inner.resource, "informer was started twice");
            return;
        };
        // Also if this future is dropped: the handlers must not outlive their watch.
        let stopped = self.inner.stopped.clone().drop_guard();
        reflector.run(Sink(Arc::clone(&self.inner)), shutdown).await;
        drop(stopped);
        self.inner.handlers.close();
        self.inner.handlers.wait().await;
    }

    /// Reads the cache.
    pub fn lister(&self) -> Lister<T> {
        self.inner.lister.clone()
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
        self.inner.lister.add_index(name, Box::new(function))
    }

    /// The kind that is watched.
    pub fn resource(&self) -> &ResourceType {
        &self.inner.resource
    }

    /// How the watch is doing: whether there was a list, and what went wrong last. The
    /// receiver can be waited on, by any number of tasks.
    pub fn status(&self) -> watch::Receiver<ReflectorStatus> {
        self.inner.status.clone()
    }

    /// Whether the first list is in the cache. Handlers may still be behind: see
    /// [`Registration::has_synced`].
    pub fn has_synced(&self) -> bool {
        self.inner.distributor.lock().writer.is_synced()
    }

    /// Adds a handler, at any time. It first hears of every object that the cache holds,
    /// as initial. Added to an informer that has stopped, it hears nothing, and
    /// [`Registration::synced`] says `false`.
    ///
    /// The task is started here, not by [`run`](Self::run).
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, which the handler's task needs.
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
    /// If `period` is zero, and outside of a tokio runtime.
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
        let mailbox = Arc::new(Mailbox::new(self.inner.buffer));
        let (synced, synced_receiver) = watch::channel(false);
        let (ended, ended_receiver) = watch::channel(false);
        let removed = self.inner.stopped.child_token();
        let panics = Arc::new(AtomicU64::new(0));
        self.inner.join(removed.clone(), &mailbox);
        let processor = Processor {
            mailbox,
            handler,
            synced,
            panics: Arc::clone(&panics),
            removed: removed.clone(),
            resync,
        };
        let inner = Arc::clone(&self.inner);
        self.inner.handlers.spawn(async move {
            processor.run(|mailbox| inner.replay(mailbox)).await;
            inner.forget_removed();
            ended.send_replace(true);
        });
        Registration {
            synced: synced_receiver,
            ended: ended_receiver,
            removed,
            panics,
        }
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
            .field("lister", &self.inner.lister)
            .finish_non_exhaustive()
    }
}

// === impl Inner ===

impl<T: Object> Inner<T> {
    fn join(&self, removed: CancellationToken, mailbox: &Arc<Mailbox<T>>) {
        let mut distributor = self.distributor.lock();
        for new in self.lister.list() {
            mailbox.push(Delta::Added { new, initial: true });
        }
        if distributor.writer.is_synced() {
            mailbox.push_synced();
        }
        distributor.mailboxes.push((removed, Arc::clone(mailbox)));
    }

    /// Under the lock, so that no object is delivered again after its deletion.
    fn replay(&self, mailbox: &Mailbox<T>) {
        let _in_order = self.distributor.lock();
        for object in self.lister.list() {
            mailbox.push(Delta::Resynced { object });
        }
    }

    fn forget_removed(&self) {
        let mut distributor = self.distributor.lock();
        distributor
            .mailboxes
            .retain(|(removed, _)| !removed.is_cancelled());
    }
}

// === impl Sink ===

impl<T: Object> EventSink<T> for Sink<T> {
    fn accept(&mut self, event: WatchEvent<T>) {
        // Without the lock: it is somebody else's code.
        let event = match &self.0.transform {
            Some(transform) => transform.apply(event),
            None => event,
        };
        let mut distributor = self.0.distributor.lock();
        let was_synced = distributor.writer.is_synced();
        let deltas = distributor.writer.apply(event);
        let now_synced = !was_synced && distributor.writer.is_synced();
        for (_, mailbox) in &distributor.mailboxes {
            for delta in &deltas {
                mailbox.push(delta.clone());
            }
            if now_synced {
                mailbox.push_synced();
            }
        }
    }
}

#[cfg(test)]
mod tests;
