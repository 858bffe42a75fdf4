use std::any::{Any, TypeId};
use std::fmt;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures::future::try_join_all;
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{Health, InformerOptions, SharedInformer};
use crate::client::{ResourceType, Scope};
use crate::watch::{Object, ReflectorStatus, ServerMemory, WatchOptions};

mod not_synced;
mod waiting;

use waiting::{Begun, Runs, Waiting};

pub use not_synced::{NotSynced, Unsynced, WhyNotSynced};

/// Hands out one informer for each kind and selection, however many controllers ask for
/// it, and runs them all.
///
/// ```no_run
/// use std::time::Duration;
/// use controller_core::client::{ResourceType, Scope};
/// use controller_core::informer::SharedInformerFactory;
/// use controller_core::watch::WatchOptions;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use tokio::time::Instant;
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example(client: kube::Client, shutdown: CancellationToken) {
/// const CONFIG_MAPS: ResourceType =
///     ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");
///
/// let factory = SharedInformerFactory::new(client);
/// let informer = factory.informer::<ConfigMap>(CONFIG_MAPS, WatchOptions::new(Scope::All));
/// let lister = informer.lister();
/// tokio::join!(factory.run(shutdown.clone()), async {
///     match factory.synced(Instant::now() + Duration::from_secs(60)).await {
///         Ok(()) => println!("{} ConfigMaps", lister.len()),
///         Err(error) => println!("{error}"),
///     }
///     shutdown.cancel();
/// });
/// # }
/// ```
///
/// Two requests mean the same informer if the Rust type, the resource, the scope and both
/// selectors are equal. How it is listed, page by page or as a stream, is no part of that, nor
/// are its other options: those of the first request count. Only of
/// [`first_list`](WatchOptions::first_list) the strictest counts, so that nobody decides from an
/// older list than was asked for; a run that is under way when it is asked for cannot begin anew,
/// and a warning says so. A projection and the full type of
/// one kind are two informers, with two watches and two caches: agree on one type in a
/// program.
///
/// What one informer learns about the server, all know: see [`ServerMemory`].
///
/// The dangerous mistake is to forget [`run`](Self::run): informers are handed out, caches
/// stay empty, and nothing says why.
pub struct SharedInformerFactory {
    client: kube::Client,
    informers: Mutex<HashMap<Identity, Entry>>,
    /// How many informers there have been.
    made: AtomicU64,
    /// Told when an informer is handed out for the first time.
    added: Notify,
    runs: watch::Sender<Runs>,
    server_memory: ServerMemory,
}

/// A run of the factory. Dropped, it is over.
struct Run<'a> {
    runs: &'a watch::Sender<Runs>,
    number: u64,
}

/// What makes two requests mean the same informer.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    object: TypeId,
    resource: ResourceType,
    scope: Scope,
    labels: Option<String>,
    fields: Option<String>,
}

/// The same informer twice: once as what it is, once as what can be done with any.
struct Entry {
    /// A `SharedInformer<T>`, where `T` is the identity's type.
    informer: Box<dyn Any + Send + Sync>,
    any: Arc<dyn AnyInformer>,
    /// Ends its runs alone, and for good.
    stop: CancellationToken,
    /// Another one after each stop, though the identity is the same.
    number: u64,
    begun: Arc<Begun>,
}

/// An informer whose kind does not matter.
trait AnyInformer: Send + Sync {
    /// After the run that is under way.
    fn run(
        &self,
        shutdown: CancellationToken,
        begun: Box<dyn FnOnce(u64) + Send>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    fn status(&self) -> watch::Receiver<ReflectorStatus>;
    fn health(&self) -> Health;
}

// === impl SharedInformerFactory ===

impl SharedInformerFactory {
    /// All informers send through `client`.
    pub fn new(client: kube::Client) -> Self {
        Self {
            client,
            informers: Mutex::new(HashMap::new()),
            made: AtomicU64::new(0),
            added: Notify::new(),
            runs: watch::Sender::default(),
            server_memory: ServerMemory::default(),
        }
    }

    /// The informer of this kind and selection: a new one, or the one that was handed out
    /// before. Add indexes with [`SharedInformer::add_index`].
    ///
    /// It can be asked for at any time; if the factory runs already it is started at once.
    pub fn informer<T: Object>(
        &self,
        resource: ResourceType,
        watch: WatchOptions,
    ) -> SharedInformer<T> {
        self.informer_with(resource, InformerOptions::new(watch))
    }

    /// As [`informer`](Self::informer), with indexes, a transform, or a buffer. Of an informer
    /// that is there already the options are what they were; these are dropped, but for a
    /// stricter [`first_list`](WatchOptions::first_list).
    pub fn informer_with<T: Object>(
        &self,
        resource: ResourceType,
        mut options: InformerOptions<T>,
    ) -> SharedInformer<T> {
        options.watch = options.watch.remembered_by(&self.server_memory);
        let labels = options.watch.label_selector.as_ref();
        let identity = Identity {
            object: TypeId::of::<T>(),
            resource: resource.clone(),
            scope: options.watch.scope.clone(),
            labels: labels
                .map(ToString::to_string)
                .filter(|text| !text.is_empty()),
            fields: options.watch.field_selector.clone(),
        };
        let first_list = options.watch.first_list;
        let mut informers = self.informers.lock();
        let entry = informers.entry(identity).or_insert_with(|| {
            let informer = SharedInformer::<T>::new(self.client.clone(), resource, options);
            Entry {
                informer: Box::new(informer.clone()),
                any: Arc::new(informer),
                stop: CancellationToken::new(),
                number: self.made.fetch_add(1, Ordering::Relaxed),
                begun: Arc::default(),
            }
        });
        let informer: SharedInformer<T> = entry.downcast().clone();
        drop(informers);
        informer.want(first_list);
        self.added.notify_one();
        informer
    }

    /// Runs every informer that was handed out, and every one that will be, until `shutdown`;
    /// then waits for their ends, see [`SharedInformer::run`]. Once at a time; it may be
    /// called again, and all go on where they were. One that runs already, by hand or since
    /// an earlier call has not quite ended, runs when that is over.
    ///
    /// Dropping the future ends them without waiting.
    pub async fn run(&self, shutdown: CancellationToken) {
        let run = Run::begin(&self.runs);
        let mut tasks = JoinSet::new();
        let mut started = HashSet::new();
        loop {
            for (any, stop, begun) in self.not_in(&mut started) {
                let by = run.number;
                let begun = Box::new(move |run| begun.note(run, by));
                tasks.spawn(run_until_either(any, shutdown.clone(), stop, begun));
            }
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                () = self.added.notified() => {}
                Some(ended) = tasks.join_next() => {
                    // One that was stopped. A panic is a bug, and a cache that stands still.
                    if let Err(error) = ended
                        && error.is_panic()
                    {
                        resume_unwind(error.into_panic());
                    }
                }
            }
        }
        tasks.join_all().await;
    }

    /// Waits until every cache of an informer that has been handed out holds a list of the run
    /// that is under way. Called before [`run`](Self::run), or between two runs, it waits for
    /// the one that is to come: a cache that is left from an earlier run does not count.
    ///
    /// A list that is refused is waited for like one that is slow; the error tells which. The
    /// dangerous mistake is to go on after an error: what is not in a cache then is not known
    /// to be absent.
    ///
    /// # Errors
    ///
    /// At `deadline`, or as soon as one of them has stopped without a list: then no waiting
    /// helps.
    pub async fn synced(&self, deadline: Instant) -> Result<(), NotSynced> {
        let informers: Vec<_> = {
            let informers = self.informers.lock();
            let from = self.runs.borrow().this_or_next();
            let waiting = informers.iter().map(|(identity, entry)| {
                let status = entry.any.status();
                let ended = status.borrow().ended();
                Waiting {
                    resource: identity.resource.clone(),
                    status,
                    stop: entry.stop.clone(),
                    runs: self.runs.subscribe(),
                    from,
                    begun: Arc::clone(&entry.begun),
                    ended,
                    has_listed: AtomicBool::new(false),
                }
            });
            waiting.collect()
        };
        let all = try_join_all(informers.iter().map(Waiting::listed));
        let why = match timeout_at(deadline, all).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(waiting::Stopped)) => WhyNotSynced::Stopped,
            Err(_) => WhyNotSynced::Deadline,
        };
        let missing = informers.iter().filter_map(Waiting::missing);
        Err(NotSynced::new(why, missing))
    }

    /// Ends one informer, waits for its end, and forgets it: whoever asks for the same kind
    /// and selection next gets a new one. `false` if it is none of this factory's, or was
    /// stopped before.
    ///
    /// For kinds that come and go, such as those of custom resource definitions. Others who
    /// were handed the same informer keep a cache that grows old, and their handlers hear
    /// nothing more: stop it only if it is known to be yours alone.
    pub async fn stop<T: Object>(&self, informer: &SharedInformer<T>) -> bool {
        let is_it = |entry: &Entry| {
            let its: Option<&SharedInformer<T>> = entry.informer.downcast_ref();
            its.is_some_and(|its| its.is(informer))
        };
        let stopped: Vec<_> = {
            let mut informers = self.informers.lock();
            informers.extract_if(|_, entry| is_it(entry)).collect()
        };
        for (_, entry) in &stopped {
            entry.stop.cancel();
        }
        informer.ended().await;
        !stopped.is_empty()
    }

    /// How each informer is doing, in no particular order.
    pub fn health(&self) -> Vec<Health> {
        let informers = self.informers.lock();
        informers.values().map(|entry| entry.any.health()).collect()
    }

    /// Those that are not yet in `started`, where they are put.
    fn not_in(
        &self,
        started: &mut HashSet<u64>,
    ) -> Vec<(Arc<dyn AnyInformer>, CancellationToken, Arc<Begun>)> {
        let informers = self.informers.lock();
        let new = informers
            .values()
            .filter(|entry| started.insert(entry.number));
        new.map(|entry| {
            let begun = Arc::clone(&entry.begun);
            (Arc::clone(&entry.any), entry.stop.clone(), begun)
        })
        .collect()
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformerFactory")
            .field("informers", &self.informers.lock().len())
            .finish_non_exhaustive()
    }
}

async fn run_until_either(
    informer: Arc<dyn AnyInformer>,
    shutdown: CancellationToken,
    stop: CancellationToken,
    begun: Box<dyn FnOnce(u64) + Send>,
) {
    let either = shutdown.child_token();
    if stop.is_cancelled() {
        // Stopped before this task's turn came: not one request.
        either.cancel();
    }
    let ended = either.clone().drop_guard();
    tokio::join!(
        async {
            informer.run(either.clone(), begun).await;
            drop(ended);
        },
        async {
            tokio::select! {
                () = stop.cancelled() => either.cancel(),
                () = either.cancelled() => {}
            }
        }
    );
}

// === impl Run ===

impl<'a> Run<'a> {
    fn begin(runs: &'a watch::Sender<Runs>) -> Self {
        let mut number = 0;
        runs.send_modify(|runs| {
            runs.under_way += 1;
            runs.begun += 1;
            number = runs.begun;
        });
        Self { runs, number }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.runs.send_modify(|runs| runs.under_way -= 1);
    }
}

// === impl Entry ===

impl Entry {
    fn downcast<T: Object>(&self) -> &SharedInformer<T> {
        self.informer
            .downcast_ref()
            .expect("invariant: the identity holds the type")
    }
}

// === impl SharedInformer ===

impl<T: Object> AnyInformer for SharedInformer<T> {
    fn run(
        &self,
        shutdown: CancellationToken,
        begun: Box<dyn FnOnce(u64) + Send>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let informer = self.clone();
        Box::pin(async move { informer.run_next(shutdown, begun).await })
    }

    fn status(&self) -> watch::Receiver<ReflectorStatus> {
        Self::status(self)
    }

    fn health(&self) -> Health {
        Self::health(self)
    }
}

#[cfg(test)]
mod tests;
