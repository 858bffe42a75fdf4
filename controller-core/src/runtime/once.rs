use std::sync::Arc;

use futures::{StreamExt, stream};
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::error::NamespacesUnread;
use super::informers::is_refusal;
use super::served::has_scaled_objects;
use super::{NotSynced, OnceOptions, OnceReport, Targets, TooManyChanges, selection};
use crate::client::{ApiError, Call, ObjectKey, ResourceType, Scope, fetch};
use crate::controllers::min_replicas::{
    Caches, Deployment, DryRun, Due, Effect, HorizontalPodAutoscaler, HpaPolicy, Look, MinReplicas,
    Namespace, Reporter, ScaledObject, TARGET_INDEX, Verdict, scaled_object_index, target_index,
};
use crate::store::{IndexFunction, Lister, cache};
use crate::watch::{ListError, Object, WatchEvent, WatchOptions, list_once};
use crate::write::ScaleWriter;

/// Looks at every Deployment once, with the same plan and the same writes as
/// [`run`](super::run), and returns.
///
/// First everything is planned, then everything is written: with
/// [`max_changes`](OnceOptions::max_changes) nothing is, if that would be too much.
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
///     max_changes: Some(10),
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
    let allowed = options.max_changes;
    let dry_run = options.settings.dry_run;
    let controller = MinReplicas::new(caches, client, options.settings, asked, reporter)
        .expect("invariant: the autoscalers' caches have the target index");
    let due = plan_all(&controller, targets, &interrupt, &mut report).await;
    report.planned = due.len();
    report.too_many = allowed
        .filter(|allowed| *allowed < due.len())
        .map(|allowed| TooManyChanges {
            planned: due.len(),
            allowed,
        });
    if report.too_many.is_some() && dry_run != DryRun::Client {
        let withheld = |due| controller.leave_undone(&due, Effect::Withheld);
        report.verdicts.extend(due.into_iter().map(withheld));
    } else {
        let done = write_all(&controller, due, options.workers, &writer, &interrupt).await;
        report.verdicts.extend(done);
    }
    report.unanswered = writer.flush(options.write_deadline).await;
    report.interrupted = interrupt.is_cancelled();
    report.verdicts.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(report)
}

/// Looks at each Deployment. What is settled by that goes to the report, what is to be
/// changed is returned.
async fn plan_all(
    controller: &MinReplicas<Arc<ScaleWriter>>,
    targets: Vec<Arc<Deployment>>,
    interrupt: &CancellationToken,
    report: &mut OnceReport,
) -> Vec<Due> {
    let mut due = Vec::new();
    let mut targets = targets.into_iter();
    while !interrupt.is_cancelled()
        && let Some(deployment) = targets.next()
    {
        match controller.look_at(deployment) {
            Look::Due(raise) => due.push(raise),
            Look::Settled(verdict) => report.verdicts.push(verdict),
        }
        // Nothing here waits, and a signal wants to be heard.
        tokio::task::coop::consume_budget().await;
    }
    report.not_looked_at = targets.len();
    due
}

/// Carries out what is due, so many at once. After an interrupt nothing more is sent, and
/// what was not sent is told as such.
async fn write_all(
    controller: &MinReplicas<Arc<ScaleWriter>>,
    due: Vec<Due>,
    workers: usize,
    writer: &ScaleWriter,
    interrupt: &CancellationToken,
) -> Vec<Verdict> {
    let verdicts = stream::iter(due)
        .map(|due| async move {
            if interrupt.is_cancelled() {
                return controller.leave_undone(&due, Effect::NotSent);
            }
            controller.carry_out(due).await
        })
        .buffer_unordered(workers.max(1))
        .collect::<Vec<Verdict>>();
    let no_new_writes = async {
        interrupt.cancelled().await;
        writer.close();
        std::future::pending().await
    };
    tokio::select! {
        biased;
        // First, or a pass that is woken together with the interrupt sends one more.
        never = no_new_writes => never,
        verdicts = verdicts => verdicts,
    }
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
    let scaled_objects = match autoscalers {
        Some(_) => scaled_objects(client, options, &scope).await?,
        None => None,
    };
    let namespaces = namespaces(client, &scope, report).await?;
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
    client: &Client,
    options: &OnceOptions,
    scope: &Scope,
) -> Result<Option<Lister<ScaledObject>>, NotSynced> {
    if !has_scaled_objects(client, &options.settings, scope).await? {
        return Ok(None);
    }
    let watch = WatchOptions::new(scope.clone());
    let index: IndexFunction<ScaledObject> = Box::new(scaled_object_index);
    let indexes = vec![(TARGET_INDEX, index)];
    let all = listed(client, &ScaledObject::RESOURCE, &watch, indexes).await?;
    Ok(Some(all))
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
