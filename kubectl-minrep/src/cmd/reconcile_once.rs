use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use controller_core::client::{Call, Scope, fetch};
use controller_core::controllers::min_replicas::{Namespace, Reporter, Verdict};
use controller_core::runtime::{self, OnceOptions, Progress, Targets};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::Failed;
use super::connect::{Connection, connect};
use crate::cli::{GlobalArgs, Once};
use crate::error::{Exit, explain_not_synced, namespace_not_found};
use crate::out::{Io, Pass, show_pass, while_drawing};
use crate::signal::Asked;

/// How long a hint may keep a person waiting.
const HINT_DEADLINE: Duration = Duration::from_secs(2);

/// The verdicts are in the report; the log has them only for who asks (`-v 4`).
struct Whisper;

/// As much of a list of namespaces as a hint needs.
#[derive(Deserialize)]
struct Names {
    items: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

/// `kubectl minrep reconcile once`: one pass over the Deployments, then the report.
///
/// The first signal stops new writes and awaits sent ones; what was done is reported
/// all the same.
///
/// # Errors
///
/// What kept the pass from looking at anything. Deployments that failed are part of the
/// report, and of the exit code.
pub(crate) async fn reconcile_once(
    global: &GlobalArgs,
    once: Once,
    asked: &Asked,
    io: &Io,
) -> Result<Exit, Failed> {
    let connection = connect(global, &once.rule, "reconcile once", io).await?;
    let started = Instant::now();
    let settings = once.rule.settings.clone();
    let (progress, watched) = watch::channel(Progress::default());
    let options = OnceOptions {
        settings: settings.clone(),
        targets: targets(&connection, &once),
        workers: once.rule.workers,
        max_changes: once.max_changes,
        timeout: once.timeout,
        write_deadline: global.write_deadline(),
        progress,
    };
    let client = connection.client.clone();
    let work = runtime::once(client, options, Arc::new(Whisper), asked.token());
    // Lines that say what goes on are better than a bar, which they would interrupt.
    let drawn: Pin<Box<dyn Future<Output = _>>> = match global.verbosity {
        0 | 1 => Box::pin(while_drawing(io, watched, work)),
        _ => Box::pin(work),
    };
    let report = asked
        .tell_while(drawn, || {
            io.talk("Interrupted: waiting for what was sent; a second signal ends at once");
        })
        .await
        .map_err(|error| explain_not_synced(&error, &connection.place))?;
    if let Some(namespace) = &report.missing_namespace {
        let known = known_namespaces(&connection).await;
        return Err(namespace_not_found(namespace, &known).into());
    }
    let pass = Pass {
        verdicts: report.verdicts,
        missing: report.missing,
        dry_run: settings.dry_run,
        planned: report.planned,
        max_changes: once.max_changes,
        too_many: report.too_many,
        interrupted: report.interrupted,
        timed_out: once.timeout.filter(|_| report.timed_out),
        synced: report.synced,
        not_looked_at: report.not_looked_at,
        unanswered: report.unanswered,
        warnings: report.warnings,
        elapsed: started.elapsed(),
    };
    show_pass(
        io,
        &pass,
        once.output,
        !once.names.is_empty(),
        &connection.place,
    )?;
    Ok(exit_of(&pass, asked))
}

/// A signal outranks what was not done on purpose, that outranks the timeout, that a failure,
/// and a failure a name that does not exist.
fn exit_of(pass: &Pass, asked: &Asked) -> Exit {
    match asked.exit() {
        Some(exit) if pass.interrupted => exit,
        _ if pass.too_many.is_some() => Exit::TooMany,
        _ if pass.timed_out.is_some() => Exit::Timeout,
        _ if pass.counts().failed > 0 => Exit::Partial,
        _ if !pass.missing.is_empty() => Exit::NotFound,
        _ => Exit::Ok,
    }
}

fn targets(connection: &Connection, once: &Once) -> Targets {
    match &once.names[..] {
        [] => Targets::OptedIn(connection.scope.clone()),
        names => Targets::Named {
            namespace: connection.namespace.clone(),
            names: names.to_vec(),
        },
    }
}

/// For "did you mean": empty where they may not be listed, or not in time.
async fn known_namespaces(connection: &Connection) -> Vec<String> {
    let call = Call::list(&Namespace::RESOURCE, &Scope::All).with_query([("limit", "1000")]);
    match timeout(HINT_DEADLINE, fetch::<Names>(&connection.client, call)).await {
        Ok(Ok(names)) => names
            .items
            .into_iter()
            .map(|namespace| namespace.metadata.name)
            .collect(),
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}

// === impl Whisper ===

impl Reporter for Whisper {
    fn report(&self, verdict: &Verdict) {
        let namespace = verdict.key.namespace().unwrap_or_default();
        let reason = verdict.reason.name();
        tracing::debug!(namespace, reason, "{} {verdict}", verdict.object());
    }
}
