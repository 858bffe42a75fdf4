use std::sync::Arc;

use controller_core::controllers::min_replicas::{DecisionLog, Metrics};
use controller_core::queue::QueueMetrics;
use controller_core::runtime::{self, RunOptions};
use controller_core::worker::WorkerMetrics;
use controller_core::write::events::{EventMetrics, EventSource};
use tokio::time::Instant;

use super::Failed;
use super::connect::connect;
use crate::cli::{GlobalArgs, Run};
use crate::error::{Exit, explain_not_synced};
use crate::out::{Io, run_banner, run_summary, unwritten_events};
use crate::signal::Asked;

/// `kubectl minrep run`: keeps the minimum until the first signal, then drains.
///
/// # Errors
///
/// What keeps the controller from seeing the cluster at all: configuration, TLS, a
/// refusal. Once it has seen everything, nothing but a signal ends it.
pub(crate) async fn run(
    global: &GlobalArgs,
    run: Run,
    asked: &Asked,
    io: &Io,
) -> Result<Exit, Failed> {
    let connection = connect(global, &run.rule, "run", io).await?;
    let started = Instant::now();
    let settings = run.rule.settings;
    let dry_run = settings.dry_run;
    io.talk(run_banner(&connection.place, &settings));
    let options = RunOptions {
        settings,
        scope: connection.scope,
        workers: run.rule.workers,
        max_raises_per_minute: run.max_raises_per_minute,
        metrics: Metrics::default(),
        events: event_source(),
        event_metrics: EventMetrics::default(),
        write_deadline: global.write_deadline(),
        retry: run.retry,
        // The longest that a read and a write may take.
        reconcile_deadline: global.deadline().map(|_| 2 * global.write_deadline()),
        worker_metrics: WorkerMetrics::default(),
        queue_metrics: QueueMetrics::default(),
        resync: run.resync,
        shutdown_grace_period: run.shutdown_grace_period,
    };
    let log = Arc::new(DecisionLog::default());
    let work = runtime::run(connection.client, options, log.clone(), asked.token());
    let summary = asked
        .tell_while(work, || {
            io.talk("Shutting down: working off what is in line; a second signal ends at once");
        })
        .await
        .map_err(|error| explain_not_synced(&error, &connection.place))?;
    if let Some(line) = unwritten_events(&summary.events) {
        io.talk(line);
    }
    io.talk(run_summary(
        &log.tally(),
        &summary,
        started.elapsed(),
        dry_run,
    ));
    Ok(Exit::Ok)
}

/// Whom the Events name: this controller, and the Pod or host that it runs on.
fn event_source() -> Option<EventSource> {
    let host = gethostname::gethostname();
    let host = host.to_string_lossy();
    let instance = if host.is_empty() { "unknown" } else { &host };
    EventSource::new("minrep.dev/min-replicas", instance).ok()
}
