use std::sync::Arc;

use kube::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::informers::Informers;
use super::{NotSynced, RunOptions, RunSummary};
use crate::controllers::min_replicas::{MinReplicas, Reporter};
use crate::queue::WorkQueue;
use crate::store::Lister;
use crate::worker::WorkerPool;
use crate::write::ScaleWriter;

/// Runs min-replicas until `shutdown`: who reads this function has read the system.
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
    let queue = WorkQueue::new("min-replicas");
    let informers = Informers::new(&client, &options, &queue);
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

    // Stages 5 to 7: queue → reconcile → plan → write.
    let writer = Arc::new(ScaleWriter::new(client.clone()));
    let asked = Arc::clone(&writer);
    let controller = MinReplicas::new(caches, client, options.settings, asked, reporter)
        .expect("invariant: the autoscalers' informer has the target index");
    let pool = WorkerPool::new(queue.clone(), Arc::new(controller), options.workers)
        // The reporter tells of every failed write and read.
        .errors_are_told();
    let mut workers = JoinSet::new();
    workers.spawn(pool.run());

    // The order of the end: no new keys, the keys in line, the writes under way, the
    // watches. Until the last key is worked off the caches stay fresh.
    shutdown.cancelled().await;
    tracing::info!("shutting down");
    let deadline = Instant::now() + options.shutdown_grace_period;
    let drained = queue.shut_down_with_drain(deadline).await;
    let summaries = workers.join_all().await;
    let unanswered = writer.flush(options.write_deadline).await;
    stop_watches.cancel();
    watches.join_all().await;
    Ok(RunSummary {
        completed: drained.completed,
        reconciled: summaries.iter().map(|summary| summary.reconciled).sum(),
        dropped_delayed: drained.dropped_delayed,
        abandoned: drained.abandoned,
        unanswered,
    })
}

// === impl RunSummary ===

impl RunSummary {
    /// Of a run that ended before the first decision.
    const NOTHING: Self = Self {
        completed: true,
        reconciled: 0,
        dropped_delayed: 0,
        abandoned: 0,
        unanswered: 0,
    };
}
