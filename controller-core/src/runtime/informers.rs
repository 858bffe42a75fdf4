use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::error::{NamespacesUnread, NotSynced, is_hopeless};
use super::not_yet_served::NotYetServed;
use super::told_states::tell_states;
use super::{RunOptions, selection};
use crate::client::{ObjectKey, Scope};
use crate::controllers::min_replicas::{
    Caches, Deployment, HorizontalPodAutoscaler, HpaPolicy, Namespace, ScaledObject, TARGET_INDEX,
    deployments_of, deployments_of_scaled_object, namespace_of, scaled_object_index, target_index,
};
use crate::handler::{Enqueue, EnqueueHandler, EventHandler};
use crate::informer::{InformerOptions, SharedInformer};
use crate::queue::WorkQueue;
use crate::store::{Delta, Lister, NAMESPACE_INDEX};
use crate::watch::{FirstList, ListError, Object, ReflectorStatus, ServerMemory, WatchOptions};

/// What our handlers are called in the log.
const HANDLER: &str = "min-replicas";

/// The watches of min-replicas, each with its cache and its handler.
pub(super) struct Informers {
    deployments: SharedInformer<Deployment>,
    autoscalers: Option<SharedInformer<HorizontalPodAutoscaler>>,
    scaled_objects: Option<SharedInformer<ScaledObject>>,
    /// Without the kind its informer is not started, and its cache stays empty.
    has_scaled_objects: bool,
    namespaces: SharedInformer<Namespace>,
    /// Ends the namespaces' watch alone, where they may not be read.
    without_namespaces: CancellationToken,
    scope: Scope,
}

// === impl Informers ===

impl Informers {
    /// Every change of a Deployment puts its key in line, every change of an autoscaler
    /// the Deployments that it targets or targeted, every pause of a namespace that ends
    /// (or begins) the Deployments in it. ScaledObjects are treated as autoscalers are.
    pub(super) fn new(
        client: &kube::Client,
        options: &RunOptions,
        has_scaled_objects: bool,
        queue: &WorkQueue<ObjectKey>,
    ) -> Self {
        // Learned once for all four kinds.
        let memory = ServerMemory::default();
        let select = selection::deployments(&options.scope, &options.settings);
        let deployments = SharedInformer::new(
            client.clone(),
            Deployment::RESOURCE,
            InformerOptions::new(select.remembered_by(&memory)),
        );
        let queue: Arc<dyn Enqueue<ObjectKey>> = Arc::new(queue.clone());
        let handler = EnqueueHandler::new(Arc::clone(&queue), |delta: &Delta<Deployment>| {
            vec![delta.key()]
        })
        .named(HANDLER);
        match options.resync {
            Some(period) => deployments.add_handler_with_resync(handler, period),
            None => deployments.add_handler(handler),
        };
        // What forbids a raise has to be known before the first one, also if it was made a
        // moment ago. A Deployment that is not seen yet is no harm, and an old copy of one is
        // found out by the guard of the write.
        let guarding = |options: WatchOptions| {
            let options = options.first_list(FirstList::MostRecent);
            options.remembered_by(&memory)
        };
        let watch = || guarding(WatchOptions::new(options.scope.clone()));
        let autoscalers = (options.settings.hpa != HpaPolicy::Ignore).then(|| {
            let informer = SharedInformer::new(
                client.clone(),
                HorizontalPodAutoscaler::RESOURCE,
                InformerOptions::new(watch()).index(TARGET_INDEX, target_index),
            );
            informer.add_handler(waking(&queue, deployments.lister(), deployments_of));
            informer
        });
        let scaled_objects = (options.settings.hpa != HpaPolicy::Ignore).then(|| {
            let informer = SharedInformer::new(
                client.clone(),
                ScaledObject::RESOURCE,
                InformerOptions::new(watch()).index(TARGET_INDEX, scaled_object_index),
            );
            let known = deployments.lister();
            informer.add_handler(waking(&queue, known, deployments_of_scaled_object));
            informer
        });
        let namespaces = SharedInformer::new(
            client.clone(),
            Namespace::RESOURCE,
            InformerOptions::new(guarding(selection::namespaces(&options.scope))),
        );
        let known = deployments.lister();
        let handler = EnqueueHandler::new(queue, move |delta: &Delta<Namespace>| {
            deployments_in(&known, namespace_of(delta))
        });
        namespaces.add_handler(handler.named(HANDLER));
        Self {
            deployments,
            autoscalers,
            scaled_objects,
            has_scaled_objects,
            namespaces,
            without_namespaces: CancellationToken::new(),
            scope: options.scope.clone(),
        }
    }

    /// Starts the watches in `tasks`; they end with `stop`.
    pub(super) fn start(&self, tasks: &mut JoinSet<()>, stop: &CancellationToken) {
        start(&self.deployments, tasks, stop.clone());
        if let Some(informer) = &self.autoscalers {
            start(informer, tasks, stop.clone());
        }
        if let Some(informer) = self.served_scaled_objects() {
            start(informer, tasks, stop.clone());
        }
        let stop = stop.child_token();
        start(&self.namespaces, tasks, stop.clone());
        let without = self.without_namespaces.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = without.cancelled() => stop.cancel(),
                () = stop.cancelled() => {}
            }
        });
    }

    /// Waits until the caches hold the first lists and are kept fresh.
    ///
    /// Namespaces that may not be read cost one warning: nothing is paused then.
    pub(super) async fn synced(&self) -> Result<Caches, NotSynced> {
        synced(&self.deployments).await?;
        let autoscalers = synced_if_any(self.autoscalers.as_ref()).await?;
        synced_if_any(self.served_scaled_objects()).await?;
        let scaled_objects = self.scaled_objects.as_ref().map(SharedInformer::lister);
        let namespaces = match synced(&self.namespaces).await {
            Ok(()) => Some(self.namespaces.lister()),
            Err(error) if is_refusal(&error.source) => {
                tracing::warn!("{}", NamespacesUnread(&error.source));
                self.without_namespaces.cancel();
                None
            }
            Err(error) => return Err(error),
        };
        self.warn_if_absent(namespaces.as_ref());
        Ok(Caches {
            deployments: self.deployments.lister(),
            autoscalers,
            scaled_objects,
            namespaces,
        })
    }

    /// ScaledObjects, if the server does not have them: for whoever looks whether it gets them.
    pub(super) fn not_yet_served(
        &self,
        client: &kube::Client,
    ) -> Option<NotYetServed<ScaledObject>> {
        let absent = self
            .scaled_objects
            .as_ref()
            .filter(|_| !self.has_scaled_objects);
        absent.map(|informer| NotYetServed {
            client: client.clone(),
            informer: informer.clone(),
        })
    }

    fn served_scaled_objects(&self) -> Option<&SharedInformer<ScaledObject>> {
        self.scaled_objects
            .as_ref()
            .filter(|_| self.has_scaled_objects)
    }

    fn warn_if_absent(&self, namespaces: Option<&Lister<Namespace>>) {
        if let (Scope::Namespace(name), Some(namespaces)) = (&self.scope, namespaces)
            && namespaces.get(&ObjectKey::cluster(name)).is_none()
        {
            tracing::warn!("namespace {name:?} does not exist yet; waiting for it");
        }
    }
}

/// Follows a kind, and tells the log so.
fn start<T: Object>(
    informer: &SharedInformer<T>,
    tasks: &mut JoinSet<()>,
    stop: CancellationToken,
) {
    let (resource, status) = (informer.resource().clone(), informer.status());
    tasks.spawn(tell_states(resource, status, stop.clone()));
    let informer = informer.clone();
    tasks.spawn(async move { informer.run(stop).await });
}

/// A handler that enqueues those Deployments that a change concerns and that we look after.
fn waking<T: Object>(
    queue: &Arc<dyn Enqueue<ObjectKey>>,
    known: Lister<Deployment>,
    concerned: fn(&Delta<T>) -> Vec<ObjectKey>,
) -> impl EventHandler<T> {
    EnqueueHandler::new(Arc::clone(queue), move |delta: &Delta<T>| {
        let concerned = concerned(delta).into_iter();
        concerned.filter(|key| known.get(key).is_some()).collect()
    })
    .named(HANDLER)
}

async fn synced_if_any<T: Object>(
    informer: Option<&SharedInformer<T>>,
) -> Result<Option<Lister<T>>, NotSynced> {
    let Some(informer) = informer else {
        return Ok(None);
    };
    synced(informer).await?;
    Ok(Some(informer.lister()))
}

async fn synced<T: Object>(informer: &SharedInformer<T>) -> Result<(), NotSynced> {
    let mut status = informer.status();
    let status = status
        .wait_for(|status| is_followed(status) || refusal(status).is_some())
        .await
        .expect("invariant: the informer keeps its status until it is dropped");
    match refusal(&status) {
        Some(error) => Err(NotSynced {
            resource: informer.resource().clone(),
            source: Arc::clone(error),
        }),
        None => Ok(()),
    }
}

/// The first list is there, and the first watch was open, or failed in a way that time
/// will mend. Whoever may list but not watch would decide from an ever older cache.
pub(super) fn is_followed(status: &ReflectorStatus) -> bool {
    status.synced && (status.watched || status.error.is_some())
}

/// What keeps the first list or the first watch from ever coming.
pub(super) fn refusal(status: &ReflectorStatus) -> Option<&Arc<ListError>> {
    let error = status.error.as_ref().filter(|error| is_hopeless(error))?;
    (!(status.synced && status.watched)).then_some(error)
}

pub(super) fn is_refusal(error: &ListError) -> bool {
    matches!(error, ListError::Api(error) if error.is_forbidden())
}

fn deployments_in(known: &Lister<Deployment>, namespace: Option<String>) -> Vec<ObjectKey> {
    let Some(namespace) = namespace else {
        return Vec::new();
    };
    known
        .by_index(NAMESPACE_INDEX, &namespace)
        .unwrap_or_default()
        .iter()
        .map(|deployment| deployment.key())
        .collect()
}
