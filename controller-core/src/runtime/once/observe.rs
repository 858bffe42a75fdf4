//! Everything that a pass decides from, read once.

use std::sync::Arc;

use futures::{StreamExt, stream};
use kube::Client;

use crate::client::{ApiError, Call, ObjectKey, ResourceType, Scope, fetch};
use crate::controllers::min_replicas::{
    Caches, Deployment, HorizontalPodAutoscaler, HpaPolicy, Namespace, ScaledObject, TARGET_INDEX,
    scaled_object_index, target_index,
};
use crate::runtime::error::NamespacesUnread;
use crate::runtime::informers::is_refusal;
use crate::runtime::served::has_scaled_objects;
use crate::runtime::{NotSynced, OnceOptions, OnceReport, Progress, Targets, selection};
use crate::store::{IndexFunction, Lister, cache};
use crate::watch::{ListError, Object, WatchEvent, WatchOptions, list_once};

/// Reads for one pass, and tells how far it is.
pub(super) struct Observer<'a> {
    pub(super) client: &'a Client,
    pub(super) options: &'a OnceOptions,
}

// === impl Observer ===

impl Observer<'_> {
    /// Reads everything that the decisions need.
    pub(super) async fn observe(
        &self,
        report: &mut OnceReport,
    ) -> Result<(Caches, Vec<Arc<Deployment>>), NotSynced> {
        let options = self.options;
        let scope = options.targets.scope();
        let deployments = match &options.targets {
            Targets::Named { namespace, names } => self.named(namespace, names, report).await?,
            Targets::OptedIn(scope) => {
                let watch = selection::deployments(scope, &options.settings);
                self.listed(&Deployment::RESOURCE, &watch, Vec::new())
                    .await?
            }
        };
        let targets = deployments.list();
        let autoscalers = match options.settings.hpa {
            HpaPolicy::Ignore => None,
            // With nothing to decide there is nothing to ask, nor to be refused.
            _ if targets.is_empty() => None,
            _ => {
                let watch = WatchOptions::new(scope.clone());
                let index: IndexFunction<HorizontalPodAutoscaler> = Box::new(target_index);
                let indexes = vec![(TARGET_INDEX, index)];
                Some(
                    self.listed(&HorizontalPodAutoscaler::RESOURCE, &watch, indexes)
                        .await?,
                )
            }
        };
        let scaled_objects = match autoscalers {
            Some(_) => self.scaled_objects(&scope).await?,
            None => None,
        };
        let namespaces = self.namespaces(&scope, report).await?;
        let caches = Caches {
            deployments,
            autoscalers,
            scaled_objects,
            namespaces,
        };
        Ok((caches, targets))
    }

    /// All ScaledObjects, `None` where the server does not have the kind.
    async fn scaled_objects(
        &self,
        scope: &Scope,
    ) -> Result<Option<Lister<ScaledObject>>, NotSynced> {
        if !has_scaled_objects(self.client, &self.options.settings, scope).await? {
            return Ok(None);
        }
        let watch = WatchOptions::new(scope.clone());
        let index: IndexFunction<ScaledObject> = Box::new(scaled_object_index);
        let indexes = vec![(TARGET_INDEX, index)];
        let all = self
            .listed(&ScaledObject::RESOURCE, &watch, indexes)
            .await?;
        Ok(Some(all))
    }

    /// Reads the named Deployments, so many at once, opted in or not.
    async fn named(
        &self,
        namespace: &str,
        names: &[String],
        report: &mut OnceReport,
    ) -> Result<Lister<Deployment>, NotSynced> {
        let read = |name| async move {
            let key = ObjectKey::namespaced(namespace, name);
            let answer = fetch(self.client, Call::get(&Deployment::RESOURCE, &key)).await;
            self.count_read();
            (key, answer)
        };
        let mut answers = stream::iter(names)
            .map(read)
            .buffered(self.options.workers.max(1));
        let mut found = Vec::new();
        while let Some((key, answer)) = answers.next().await {
            match answer {
                Ok(deployment) => found.push(deployment),
                Err(error) if is_absent(&error) => report.missing.push(key),
                Err(error) => return Err(not_read(&Deployment::RESOURCE, error.into())),
            }
        }
        Ok(holding(found))
    }

    /// The namespaces in `scope`, `None` where they may not be read.
    async fn namespaces(
        &self,
        scope: &Scope,
        report: &mut OnceReport,
    ) -> Result<Option<Lister<Namespace>>, NotSynced> {
        let read = match scope {
            Scope::All => {
                let watch = selection::namespaces(scope);
                self.listed(&Namespace::RESOURCE, &watch, Vec::new()).await
            }
            // Not a list with a field selector: who has rights in one namespace only may
            // perhaps get it, but never list.
            Scope::Namespace(name) => self.one_namespace(name, report).await,
        };
        match read {
            Ok(lister) => Ok(Some(lister)),
            Err(error) if is_refusal(&error.source) => {
                let warning = NamespacesUnread(&error.source).to_string();
                report.warnings.push(warning);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn one_namespace(
        &self,
        name: &str,
        report: &mut OnceReport,
    ) -> Result<Lister<Namespace>, NotSynced> {
        let key = ObjectKey::cluster(name);
        match fetch(self.client, Call::get(&Namespace::RESOURCE, &key)).await {
            Ok(namespace) => Ok(holding([namespace])),
            Err(error) if is_absent(&error) => {
                report.missing_namespace = Some(name.to_owned());
                Ok(holding([]))
            }
            Err(error) => Err(not_read(&Namespace::RESOURCE, error.into())),
        }
    }

    async fn listed<T: Object>(
        &self,
        resource: &ResourceType,
        watch: &WatchOptions,
        indexes: Vec<(&'static str, IndexFunction<T>)>,
    ) -> Result<Lister<T>, NotSynced> {
        let (mut writer, lister) = cache(indexes);
        let mut sink = |event| {
            if let WatchEvent::Listed(_) = &event {
                self.count_read();
            }
            writer.apply(event);
        };
        list_once(self.client, resource, watch, &mut sink)
            .await
            .map_err(|error| not_read(resource, error))?;
        Ok(lister)
    }

    fn count_read(&self) {
        self.options.progress.send_modify(|progress| {
            if let Progress::Reading { objects } = progress {
                *objects += 1;
            }
        });
    }
}

/// A cache of objects that were read one by one, in any order of their versions: as a
/// list, for a watch's events would have to come in order.
fn holding<T: Object>(objects: impl IntoIterator<Item = T>) -> Lister<T> {
    let (mut writer, lister) = cache(Vec::new());
    writer.apply(WatchEvent::ListStarted { fresh: false });
    for object in objects {
        writer.apply(WatchEvent::Listed(object));
    }
    writer.apply(WatchEvent::ListDone {
        resource_version: String::new(),
        restored: false,
    });
    lister
}

/// The object is absent, and the API server itself says so.
fn is_absent(error: &ApiError) -> bool {
    error.is_not_found() && !error.is_unserved()
}

fn not_read(resource: &ResourceType, error: ListError) -> NotSynced {
    NotSynced {
        resource: resource.clone(),
        source: Arc::new(error),
    }
}
