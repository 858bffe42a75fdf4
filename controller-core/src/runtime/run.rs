use std::panic::resume_unwind;
use std::sync::Arc;

use kube::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::hold::Hold;
use super::informers::Informers;
use super::left_over::tell_who_is_left_over;
use super::served::has_scaled_objects_in_the_end;
use super::told_events::ToldEvents;
use super::waiting::tell_how_many_wait;
use super::{NotSynced, RunOptions, RunSummary};
use crate::controllers::min_replicas::{DryRun, MinReplicas, Reporter, Verdict};
use crate::queue::WorkQueue;
use crate::store::Lister;
use crate::watch::Object;
use crate::worker::WorkerPool;
use crate::write::events::{EventCounts, EventRecorder, EventWriter};
use crate::write::{FIELD_MANAGER, ScaleWriter};

/// Runs min-replicas until `shutdown`: who reads this function has read the system.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::sync::Arc;
/// use controller_core::client::{ClientOptions, Scope, layered};
/// use controller_core::controllers::min_replicas::{DecisionLog, Metrics, Settings};
/// use controller_core::queue::QueueMetrics;
/// use controller_core::runtime::{RetryDelays, RunOptions, run};
/// use controller_core::worker::WorkerMetrics;
/// use controller_core::write::events::{EventMetrics, EventSource};
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
/// #     "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
/// #              "template": {"metadata": {"labels": {"app": "web"}},
/// #                           "spec": {"containers": [{"name": "c", "image": "i"}]}}},
/// # }));
/// let mut client_options = ClientOptions::new("example/1.0");
/// client_options.request_timeout = Some(Duration::from_secs(30));
/// let client = layered(server.service(), &client_options); // `build` in a program
/// let options = RunOptions {
///     settings: Settings::default(),
///     scope: Scope::Namespace("default".into()),
///     workers: 2,
///     max_raises_per_minute: NonZeroU32::new(100),
///     retry: RetryDelays::default(),
///     metrics: Metrics::default(),
///     events: Some(EventSource::new("example.com/min-replicas", "pod-1")?),
///     event_metrics: EventMetrics::default(),
///     resync: Some(Duration::from_secs(30)),
///     shutdown_grace_period: Duration::from_secs(25),
///     write_deadline: Duration::from_secs(31),
///     reconcile_deadline: Some(Duration::from_secs(62)),
///     worker_metrics: WorkerMetrics::default(),
///     queue_metrics: QueueMetrics::default(),
/// };
/// let log = Arc::new(DecisionLog::default());
/// let shutdown = CancellationToken::new();
/// let running = run(client, options, log.clone(), shutdown.clone());
/// let until_raised = async {
///     let raised = |object: Option<&serde_json::Value>| {
///         object.is_some_and(|object| object["spec"]["replicas"] == 2)
///     };
///     server.wait_for_object("deployments", "default", "web", raised).await;
///     shutdown.cancel();
/// };
/// let both = async { tokio::join!(running, until_raised) };
/// let (summary, ()) = tokio::time::timeout(Duration::from_secs(10), both).await?;
/// assert!(summary?.completed);
/// assert_eq!(log.tally().raised, 1);
/// # server.shutdown().await;
/// # Ok(())
/// # }
/// ```
///
/// Permissions: get, list and watch of Deployments and patch of `deployments/scale`; list and
/// watch of HorizontalPodAutoscalers, and of ScaledObjects where the server has the kind or
/// gets it, unless they are ignored; patch of HorizontalPodAutoscalers if their minimum is to be raised;
/// list and watch of Namespaces, without which none is taken for paused and one warning says
/// so; create and patch of Events (`events.k8s.io`), without which there are none and one
/// warning says so.
///
/// # Errors
///
/// If the first lists are refused in a way that waiting cannot mend (see [`NotSynced`]).
/// After the first lists nothing but `shutdown` ends it.
pub async fn run(
    client: Client,
    options: RunOptions,
    reporter: Arc<dyn Reporter>,
    shutdown: CancellationToken,
) -> Result<RunSummary, NotSynced> {
    // Stages 0 to 4: HTTP → events → cache → keys → queue.
    let queue = WorkQueue::builder("min-replicas")
        .rate_limiter(options.retry.limiter())
        .build();
    options.queue_metrics.watch(&queue);
    let asked = has_scaled_objects_in_the_end(&client, &options.settings, &options.scope);
    let Some(has_scaled_objects) = shutdown.run_until_cancelled(asked).await else {
        return Ok(RunSummary::NOTHING);
    };
    let informers = Informers::new(&client, &options, has_scaled_objects?, &queue);
    let mut watches = JoinSet::new();
    let stop_watches = CancellationToken::new();
    informers.start(&mut watches, &stop_watches);

    // Nothing is decided before all caches are full: a missing autoscaler is no absent
    // autoscaler.
    let caches = match shutdown.run_until_cancelled(informers.synced()).await {
        Some(Ok(caches)) => caches,
        unfit => {
            stop_watches.cancel();
            watches.join_all().await;
            return match unfit {
                Some(Err(not_synced)) => Err(not_synced),
                _ => Ok(RunSummary::NOTHING),
            };
        }
    };
    tracing::info!(
        deployments = caches.deployments.len(),
        autoscalers = caches.autoscalers.as_ref().map(Lister::len),
        "caches synced"
    );
    let hold = Hold::default();
    if let Some(kind) = informers.not_yet_served(&client) {
        watches.spawn(kind.follow(hold.clone(), stop_watches.clone()));
    }

    // Stages 5 to 7: queue → reconcile → plan → write.
    let (metrics, dry_run) = (options.metrics, options.settings.dry_run);
    let events = EventWriter::new(client.clone(), FIELD_MANAGER).metrics(&options.event_metrics);
    let recorder = match options.events.filter(|_| dry_run == DryRun::None) {
        Some(source) => events.recorder(source),
        None => EventRecorder::disabled(),
    };
    let keys = caches
        .deployments
        .list()
        .into_iter()
        .map(|known| known.key());
    let told_events = ToldEvents::new(recorder, keys);
    let reporter: Arc<dyn Reporter> = Arc::new(vec![
        reporter,
        Arc::new(metrics.clone()),
        Arc::new(told_events),
    ]);
    let stop_events = CancellationToken::new();
    let mut event_writer = JoinSet::new();
    event_writer.spawn(events.run(stop_events.clone()));
    let (told, counted) = (Arc::clone(&reporter), metrics.clone());
    let writer = ScaleWriter::new(client.clone()).on_late_answer(move |raise, answer| {
        counted.count_late_answer(raise, &answer);
        told.report(&Verdict::late(raise, answer, dry_run));
    });
    let writer = Arc::new(writer);
    let settled: Arc<dyn Reporter> = Arc::clone(&writer) as _;
    let reporter: Arc<dyn Reporter> = Arc::new(vec![reporter, settled]);
    let asked = metrics.counting(Arc::clone(&writer));
    let controller = MinReplicas::new(caches, client, options.settings, asked, reporter)
        .expect("invariant: the autoscalers' informers have the target index")
        .max_raises_per_minute(options.max_raises_per_minute)
        .retry_delays(options.retry.base(), options.retry.max());
    if let Some(limit) = options.max_raises_per_minute {
        let stop = stop_watches.clone();
        watches.spawn(tell_how_many_wait(controller.waiting(), limit, stop));
    }
    let pool = WorkerPool::new(queue.clone(), Arc::new(controller), options.workers)
        .reconcile_deadline(options.reconcile_deadline)
        .metrics(&options.worker_metrics)
        .layer(hold.layer(shutdown.clone()))
        // The reporter tells of every failed write and read.
        .errors_are_told();
    let mut workers = JoinSet::new();
    workers.spawn(pool.run());

    // The order of the end: no new keys, the keys in line, the writes under way, what is to be
    // told of them, the watches. Until the last key is worked off the caches stay fresh.
    asked_to_end(&shutdown, &mut watches).await;
    tracing::info!("shutting down");
    let deadline = Instant::now() + options.shutdown_grace_period;
    let drained = queue.shut_down_with_drain(deadline).await;
    tell_who_is_left_over(&drained, &queue);
    let summaries = workers.join_all().await;
    let unanswered = writer.flush(options.write_deadline).await;
    stop_events.cancel();
    let events = event_writer.join_all().await;
    stop_watches.cancel();
    watches.join_all().await;
    Ok(RunSummary {
        synced: true,
        completed: drained.completed,
        reconciled: summaries.iter().map(|summary| summary.reconciled).sum(),
        dropped_delayed: drained.dropped_delayed,
        abandoned: drained.abandoned,
        abandoned_in_work: drained.abandoned_in_work,
        unanswered,
        events: events.into_iter().next().unwrap_or_default(),
    })
}

/// Waits for `shutdown`.
///
/// A watch that panics meanwhile takes the run down with it: its cache would never change
/// again, and decisions would go on being made from it.
async fn asked_to_end(shutdown: &CancellationToken, watches: &mut JoinSet<()>) {
    let watching = async {
        while let Some(ended) = watches.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                resume_unwind(error.into_panic());
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

// === impl RunSummary ===

impl RunSummary {
    /// Of a run that ended before the first decision.
    const NOTHING: Self = Self {
        synced: false,
        completed: true,
        reconciled: 0,
        dropped_delayed: 0,
        abandoned: 0,
        abandoned_in_work: 0,
        unanswered: 0,
        events: EventCounts::NONE,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[should_panic(expected = "a bug in a watch")]
    async fn a_watch_that_panics_ends_the_run() {
        let mut watches = JoinSet::new();
        watches.spawn(std::future::ready(()));
        watches.spawn(async { panic!("a bug in a watch") });
        asked_to_end(&CancellationToken::new(), &mut watches).await;
    }

    #[tokio::test(start_paused = true)]
    async fn watches_that_were_told_to_end_do_not_end_the_run() {
        let mut watches = JoinSet::new();
        watches.spawn(std::future::ready(()));
        let shutdown = CancellationToken::new();
        let waiting = asked_to_end(&shutdown, &mut watches);
        let early = tokio::time::timeout(std::time::Duration::from_millis(1), waiting).await;
        assert!(early.is_err());
        shutdown.cancel();
        asked_to_end(&shutdown, &mut watches).await;
    }
}
