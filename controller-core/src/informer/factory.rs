use std::any::{Any, TypeId};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{InformerOptions, SharedInformer};
use crate::client::ResourceType;
use crate::watch::{Object, ReflectorStatus, ServerMemory, WatchOptions};

/// Hands out one informer for each kind and selection, however many controllers ask for
/// it, and runs them all.
///
/// ```no_run
/// use controller_core::client::{ResourceType, Scope};
/// use controller_core::informer::SharedInformerFactory;
/// use controller_core::watch::WatchOptions;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example(client: kube::Client, shutdown: CancellationToken) {
/// const CONFIG_MAPS: ResourceType =
///     ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");
///
/// let factory = SharedInformerFactory::new(client);
/// let informer = factory.informer::<ConfigMap>(CONFIG_MAPS, WatchOptions::new(Scope::All));
/// let lister = informer.lister();
/// tokio::join!(factory.run(shutdown), async {
///     if factory.synced().await {
///         println!("{} ConfigMaps", lister.len());
///     }
/// });
/// # }
/// ```
///
/// Two requests mean the same informer if the Rust type, the resource and the whole
/// selection are equal. A projection and the full type of one kind are two informers, with
/// two watches and two caches: agree on one type in a program.
///
/// The dangerous mistake is to ask for an informer after [`run`](Self::run): it is handed
/// out, but nothing starts it. Its cache stays empty, and [`synced`](Self::synced) waits for
/// ever. In client-go a second `Start` would begin it.
pub struct SharedInformerFactory {
    client: kube::Client,
    /// All informers talk to one server.
    memory: ServerMemory,
    informers: Mutex<HashMap<Identity, Entry>>,
}

/// What makes two requests mean the same informer.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    object: TypeId,
    resource: ResourceType,
    /// The whole selection, as text: options have no cheaper identity.
    selection: String,
}

/// The same informer twice: once as what it is, once as what can be done with any.
struct Entry {
    /// A `SharedInformer<T>`, where `T` is the identity's type.
    informer: Box<dyn Any + Send + Sync>,
    runner: Arc<dyn Runner>,
}

/// An informer whose kind does not matter: it only has to run and to sync.
trait Runner: Send + Sync {
    fn run(&self, shutdown: CancellationToken) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    fn status(&self) -> tokio::sync::watch::Receiver<ReflectorStatus>;
}

// === impl SharedInformerFactory ===

impl SharedInformerFactory {
    /// All informers send through `client`.
    pub fn new(client: kube::Client) -> Self {
        Self {
            client,
            memory: ServerMemory::default(),
            informers: Mutex::new(HashMap::new()),
        }
    }

    /// The informer of this kind and selection: a new one, or the one that was handed out
    /// before. Add indexes with [`SharedInformer::add_index`].
    pub fn informer<T: Object>(
        &self,
        resource: ResourceType,
        watch: WatchOptions,
    ) -> SharedInformer<T> {
        let identity = Identity {
            object: TypeId::of::<T>(),
            resource: resource.clone(),
            selection: format!("{watch:?}"),
        };
        let mut informers = self.informers.lock();
        let entry = informers.entry(identity).or_insert_with(|| {
            let options = InformerOptions::new(watch.remembered_by(&self.memory));
            let informer = SharedInformer::<T>::new(self.client.clone(), resource, options);
            Entry {
                informer: Box::new(informer.clone()),
                runner: Arc::new(informer),
            }
        });
        entry
            .informer
            .downcast_ref::<SharedInformer<T>>()
            .expect("invariant: the identity holds the type")
            .clone()
    }

    /// Runs every informer that was handed out, until `shutdown`, then waits for the last
    /// call of every handler. Once: an informer does not run twice.
    ///
    /// Dropping the future ends the watches but not the handlers' tasks: end it by the token.
    pub async fn run(&self, shutdown: CancellationToken) {
        let mut tasks = JoinSet::new();
        for runner in self.runners() {
            tasks.spawn(runner.run(shutdown.clone()));
        }
        tasks.join_all().await;
    }

    /// Waits until every cache holds its first list. Returns `false` if one of them will
    /// never do so, because it was stopped before.
    ///
    /// Waits for ever where a list is refused for ever: [`SharedInformer::status`] tells
    /// which and why. The dangerous mistake is to go on after `false`: what is not in a
    /// cache then is not known to be absent.
    #[must_use = "a cache that was stopped early looks like an empty cluster"]
    pub async fn synced(&self) -> bool {
        for runner in self.runners() {
            // An error means that the reflector is gone.
            let mut status = runner.status();
            if status.wait_for(|status| status.synced).await.is_err() {
                return false;
            }
        }
        true
    }

    fn runners(&self) -> Vec<Arc<dyn Runner>> {
        let informers = self.informers.lock();
        informers
            .values()
            .map(|entry| Arc::clone(&entry.runner))
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

// === impl SharedInformer ===

impl<T: Object> Runner for SharedInformer<T> {
    fn run(&self, shutdown: CancellationToken) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let informer = self.clone();
        Box::pin(async move { Self::run(&informer, shutdown).await })
    }

    fn status(&self) -> tokio::sync::watch::Receiver<ReflectorStatus> {
        Self::status(self)
    }
}

#[cfg(test)]
mod tests {
    use kube::client::Body;

    use super::*;
    use crate::client::Scope;
    use crate::watch::testing::Widget;

    /// client-go's `WaitForCacheSync` says so too: an empty cache is no answer.
    #[tokio::test]
    async fn a_factory_that_stopped_before_its_first_list_has_not_synced() {
        let never = tower::service_fn(|_: http::Request<Body>| {
            std::future::pending::<Result<http::Response<Body>, std::io::Error>>()
        });
        let factory = SharedInformerFactory::new(kube::Client::new(never, "default"));
        let widgets = ResourceType::namespaced("example.com", "v1", "widgets", "Widget");
        factory.informer::<Widget>(widgets, WatchOptions::new(Scope::All));
        let shutdown = CancellationToken::new();
        let ((), synced) = tokio::join!(factory.run(shutdown.clone()), async {
            tokio::task::yield_now().await;
            shutdown.cancel();
            factory.synced().await
        });
        assert!(!synced);
    }
}
