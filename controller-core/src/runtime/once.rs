use std::sync::Arc;

use futures::{StreamExt, stream};
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::error::NamespacesUnread;
use super::informers::is_refusal;
use super::{NotSynced, OnceOptions, OnceReport, Targets, selection};
use crate::client::{ApiError, Call, ObjectKey, ResourceType, Scope, fetch};
use crate::controllers::min_replicas::{
    Caches, Deployment, HorizontalPodAutoscaler, HpaPolicy, MinReplicas, Namespace, Reporter,
    TARGET_INDEX, Verdict, target_index,
};
use crate::store::{IndexFunction, Lister, cache};
use crate::watch::{ListError, Object, WatchEvent, WatchOptions, list_once};
use crate::write::ScaleWriter;

/// Looks at every Deployment once, with the same plan and the same writes as
/// [`run`](super::run), and returns.
///
/// `interrupt` stops it early: no new write is sent, those that were sent are awaited,
/// and the report says what was done.
///
/// Everything is listed from etcd and not from a watch cache, for nobody will hear of what
/// was missed. Each object gets one look; after a 409 it is read and planned again, as in a
/// loop, but what fails is told and not retried later: run it again.
///
/// ```
/// use std::sync::Arc;
/// use controller_core::client::{ClientOptions, Scope, layered};
/// use controller_core::controllers::min_replicas::{DecisionLog, DryRun, Settings};
/// use controller_core::runtime::{OnceOptions, Targets, once};
/// use tokio::time::Duration;
/// use tokio_util::sync::CancellationToken;
/// # use serde_json::json;
/// # use sim_apiserver::SimApiServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = SimApiServer::builder().start().await?;
/// # server.seed(json!({
/// #     "apiVersion": "apps/v1", "kind": "Deployment",
/// #     "metadata": {"name": "web", "namespace": "default",
/// #                  "labels": {"demo/min-replicas": "true"}},
/// #     "spec": {"replicas": 1},
/// # }));
/// # let client = layered(server.service(), &ClientOptions::new("example/1.0"));
/// let options = OnceOptions {
///     settings: Settings { dry_run: DryRun::Client, ..Settings::default() },
///     targets: Targets::OptedIn(Scope::All),
///     workers: 2,
///     write_deadline: Duration::from_secs(31),
/// };
/// let quiet = Arc::new(DecisionLog::default());
/// let report = once(client, options, quiet, CancellationToken::new()).await?;
/// let verdicts: Vec<String> = report.verdicts.iter().map(ToString::to_string).collect();
/// assert_eq!(verdicts, ["would be scaled from 1 to 2 (dry run)"]);
/// # server.shutdown().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// If what it needs to know could not be listed at all; nothing was written then. A
/// single object that failed is no error: its verdict says so.
pub async fn once(
    client: Client,
    options: OnceOptions,
    reporter: Arc<dyn Reporter>,
    interrupt: CancellationToken,
) -> Result<OnceReport, NotSynced> {
    let mut report = OnceReport::default();
    let observed = interrupt
        .run_until_cancelled(observe(&client, &options, &mut report))
        .await;
    let Some(observed) = observed else {
        report.interrupted = true;
        return Ok(report);
    };
    let (caches, targets) = observed?;
    let writer = Arc::new(ScaleWriter::new(client.clone()));
    let asked = Arc::clone(&writer);
    let controller = MinReplicas::new(caches, client, options.settings, asked, reporter)
        .expect("invariant: the autoscalers' cache has the target index");
    let all = targets.len();
    let verdicts = stream::iter(targets)
        .take_until(interrupt.cancelled())
        .map(|deployment| {
            let controller = &controller;
            async move { controller.settle_object(&deployment).await }
        })
        .buffer_unordered(options.workers.max(1))
        .collect::<Vec<Verdict>>();
    let no_new_writes = async {
        interrupt.cancelled().await;
        writer.close();
        std::future::pending().await
    };
    report.verdicts = tokio::select! {
        biased;
        // First, or a pass that is woken together with the interrupt sends one more.
        never = no_new_writes => never,
        verdicts = verdicts => verdicts,
    };
    report.not_looked_at = all - report.verdicts.len();
    report.unanswered = writer.flush(options.write_deadline).await;
    report.interrupted = interrupt.is_cancelled();
    report.verdicts.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(report)
}

/// Reads everything that the decisions need.
async fn observe(
    client: &Client,
    options: &OnceOptions,
    report: &mut OnceReport,
) -> Result<(Caches, Vec<Arc<Deployment>>), NotSynced> {
    let scope = options.targets.scope();
    let deployments = match &options.targets {
        Targets::Named { namespace, names } => named(client, namespace, names, report).await?,
        Targets::OptedIn(scope) => {
            let watch = selection::deployments(scope, &options.settings);
            listed(client, &Deployment::RESOURCE, &watch, Vec::new()).await?
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
            Some(listed(client, &HorizontalPodAutoscaler::RESOURCE, &watch, indexes).await?)
        }
    };
    let namespaces = namespaces(client, &scope, report).await?;
    let caches = Caches {
        deployments,
        autoscalers,
        namespaces,
    };
    Ok((caches, targets))
}

/// Reads the named Deployments one by one, opted in or not.
async fn named(
    client: &Client,
    namespace: &str,
    names: &[String],
    report: &mut OnceReport,
) -> Result<Lister<Deployment>, NotSynced> {
    let mut found = Vec::new();
    for name in names {
        let key = ObjectKey::namespaced(namespace, name);
        match fetch(client, Call::get(&Deployment::RESOURCE, &key)).await {
            Ok(deployment) => found.push(deployment),
            Err(error) if is_absent(&error) => report.missing.push(key),
            Err(error) => return Err(not_read(&Deployment::RESOURCE, error.into())),
        }
    }
    Ok(holding(found))
}

/// The namespaces in `scope`, `None` where they may not be read.
async fn namespaces(
    client: &Client,
    scope: &Scope,
    report: &mut OnceReport,
) -> Result<Option<Lister<Namespace>>, NotSynced> {
    let read = match scope {
        Scope::All => {
            let watch = selection::namespaces(scope);
            listed(client, &Namespace::RESOURCE, &watch, Vec::new()).await
        }
        // Not a list with a field selector: who has rights in one namespace only may
        // perhaps get it, but never list.
        Scope::Namespace(name) => one_namespace(client, name, report).await,
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
    client: &Client,
    name: &str,
    report: &mut OnceReport,
) -> Result<Lister<Namespace>, NotSynced> {
    let key = ObjectKey::cluster(name);
    match fetch(client, Call::get(&Namespace::RESOURCE, &key)).await {
        Ok(namespace) => Ok(holding([namespace])),
        Err(error) if is_absent(&error) => {
            report.missing_namespace = Some(name.to_owned());
            Ok(holding([]))
        }
        Err(error) => Err(not_read(&Namespace::RESOURCE, error.into())),
    }
}

async fn listed<T: Object>(
    client: &Client,
    resource: &ResourceType,
    watch: &WatchOptions,
    indexes: Vec<(&'static str, IndexFunction<T>)>,
) -> Result<Lister<T>, NotSynced> {
    let (mut writer, lister) = cache(indexes);
    let mut sink = |event| {
        writer.apply(event);
    };
    list_once(client, resource, watch, &mut sink)
        .await
        .map_err(|error| not_read(resource, error))?;
    Ok(lister)
}

/// A cache of objects that were read one by one, in any order of their versions: as a
/// list, for a watch's events would have to come in order.
fn holding<T: Object>(objects: impl IntoIterator<Item = T>) -> Lister<T> {
    let (mut writer, lister) = cache(Vec::new());
    writer.apply(WatchEvent::ListStarted { restored: false });
    for object in objects {
        writer.apply(WatchEvent::Listed(object));
    }
    writer.apply(WatchEvent::ListDone {
        resource_version: String::new(),
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
