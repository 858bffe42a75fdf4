use std::sync::Arc;

use futures::{StreamExt, stream};
use hashbrown::HashMap;
use kube::Client;
use parking_lot::Mutex;
use tokio::time::{Duration, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use self::observe::Observer;
use super::{NotSynced, OnceOptions, OnceReport, TooManyChanges};
use crate::client::ApiError;
use crate::controllers::min_replicas::{
    Deployment, DryRun, Due, Effect, Failure, Look, MinReplicas, Reporter, Verdict,
};
use crate::watch::Object;
use crate::worker::reconcile_span;
use crate::write::ScaleWriter;

mod observe;
mod progress;

pub use progress::Progress;

/// What had its answer by then may take so long to end.
const LAST_MOMENT: Duration = Duration::from_millis(100);

/// Looks at every Deployment once, with the same plan and the same writes as
/// [`run`](super::run), and returns.
///
/// First everything is planned, then everything is written: with
/// [`max_changes`](OnceOptions::max_changes) nothing is, if that would be too much.
///
/// `interrupt` stops it early, and so does [`timeout`](OnceOptions::timeout): no new write is
/// sent, those that were sent are awaited, and the report says what was done.
///
/// Everything is listed from etcd and not from a watch cache, for nobody will hear of what
/// was missed. Each object gets one look; after a 409 it is read and planned again, as in a
/// loop, but what fails is told and not retried later: run it again. Two passes at once are
/// harmless: the precondition of a write lets one of them through, and the other finds the
/// work done.
///
/// ```
/// use std::sync::Arc;
/// use controller_core::client::{ClientOptions, Scope, layered};
/// use controller_core::controllers::min_replicas::{DecisionLog, DryRun, Settings};
/// use controller_core::runtime::{OnceOptions, Targets, once};
/// use tokio::sync::watch::Sender;
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
///     timeout: Some(Duration::from_secs(300)),
///     write_deadline: Duration::from_secs(31),
///     progress: Sender::default(),
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
    let stop = interrupt.child_token();
    let mut expired = false;
    let timer = async {
        match options.timeout {
            Some(timeout) => sleep(timeout).await,
            None => std::future::pending().await,
        }
        expired = true;
        stop.cancel();
        std::future::pending().await
    };
    let report = tokio::select! {
        biased;
        // First, or a pass that is woken together with the timer sends one more.
        never = timer => never,
        report = pass(client, &options, reporter, &stop) => report,
    };
    let (mut report, cut_short) = report?;
    // A signal, or the timeout, that comes before a last answer leaves nothing undone.
    report.interrupted = interrupt.is_cancelled() && cut_short;
    report.timed_out = expired && cut_short;
    Ok(report)
}

/// What was found and done, and whether `stop` kept anything from being done.
async fn pass(
    client: Client,
    options: &OnceOptions,
    reporter: Arc<dyn Reporter>,
    stop: &CancellationToken,
) -> Result<(OnceReport, bool), NotSynced> {
    let mut report = OnceReport::default();
    let observer = Observer {
        client: &client,
        options,
    };
    let observed = stop
        .run_until_cancelled(observer.observe(&mut report))
        .await;
    let Some(observed) = observed else {
        return Ok((report, true));
    };
    let (caches, targets) = observed?;
    report.synced = true;
    let late = Arc::new(Mutex::new(HashMap::new()));
    let (hearing, dry_run) = (Arc::clone(&late), options.settings.dry_run);
    let writer = ScaleWriter::new(client.clone()).on_late_answer(move |raise, answer| {
        let answered = Verdict::late(raise, answer, dry_run);
        hearing.lock().insert(raise.key.clone(), answered);
    });
    let writer = Arc::new(writer);
    let (asked, settings) = (Arc::clone(&writer), options.settings.clone());
    let told = Arc::clone(&reporter);
    let controller = MinReplicas::new(caches, client, settings, asked, reporter)
        .expect("invariant: the autoscalers' caches have the target index");
    let due = plan_all(&controller, targets, stop, &mut report).await;
    report.planned = due.len();
    report.too_many = options
        .max_changes
        .filter(|allowed| *allowed < due.len())
        .map(|allowed| TooManyChanges {
            planned: due.len(),
            allowed,
        });
    let mut given_up = Vec::new();
    if report.too_many.is_some() && options.settings.dry_run != DryRun::Client {
        let withheld = |(_, due)| controller.leave_undone(&due, Effect::Withheld);
        report.verdicts.extend(due.into_iter().map(withheld));
    } else {
        for carried_out in write_all(&controller, due, options, &writer, stop).await {
            match carried_out {
                Ok(verdict) => report.verdicts.push(verdict),
                Err(due) => given_up.push(due),
            }
        }
    }
    // Whoever waited for an answer has it, or has given up waiting: what ends now is only
    // what had its answer a moment ago.
    report.unanswered = writer.flush(LAST_MOMENT).await;
    let mut is_incomplete = report.is_incomplete();
    for (span, due) in given_up {
        let answered = late.lock().remove(&due.raise().key);
        let verdict = span.in_scope(|| match answered {
            Some(answered) => {
                // A refusal may have been got over, if there had been time.
                is_incomplete |= answered
                    .failure()
                    .is_some_and(|it| it.api_error().is_some());
                told.report(&answered);
                answered
            }
            None => {
                is_incomplete = true;
                controller.leave_undone(&due, unanswered(options.write_deadline))
            }
        });
        options.count_settled(&verdict);
        report.verdicts.push(verdict);
    }
    report.verdicts.sort_by(|a, b| a.key.cmp(&b.key));
    Ok((report, is_incomplete))
}

/// Looks at each Deployment. What is settled by that goes to the report, what is to be
/// changed is returned, with the span of its reconcile.
async fn plan_all(
    controller: &MinReplicas<Arc<ScaleWriter>>,
    mut targets: Vec<Arc<Deployment>>,
    stop: &CancellationToken,
    report: &mut OnceReport,
) -> Vec<(Span, Due)> {
    // What is cut short has done the first ones, in an order that a person can follow.
    targets.sort_by_cached_key(|deployment| deployment.key());
    let mut due = Vec::new();
    let mut targets = targets.into_iter();
    while !stop.is_cancelled()
        && let Some(deployment) = targets.next()
    {
        let span = reconcile_span("once", &deployment.key(), None, None);
        match span.in_scope(|| controller.look_at(deployment)) {
            Look::Due(raise) => due.push((span, raise)),
            Look::Settled(verdict) => report.verdicts.push(verdict),
        }
        // Nothing here waits, and a signal wants to be heard.
        tokio::task::coop::consume_budget().await;
    }
    report.not_looked_at = targets.len();
    due
}

/// Carries out what is due, so many at once. Once stopped nothing more is sent, and what
/// was not sent is told as such. What nobody waits for any more comes back as it was.
async fn write_all(
    controller: &MinReplicas<Arc<ScaleWriter>>,
    due: Vec<(Span, Due)>,
    options: &OnceOptions,
    writer: &ScaleWriter,
    stop: &CancellationToken,
) -> Vec<Result<Verdict, (Span, Due)>> {
    let total = due.len();
    options.progress.send_replace(Progress::Writing {
        done: 0,
        failed: 0,
        total,
    });
    let give_up = CancellationToken::new();
    let given_up = &give_up;
    let one = |span: Span, due: Due| async move {
        if stop.is_cancelled() {
            return Ok(controller.leave_undone(&due, Effect::NotSent));
        }
        let carried_out = controller.carry_out(due.clone());
        let carried_out = given_up.run_until_cancelled(carried_out).await;
        carried_out.ok_or((span, due))
    };
    let verdicts = stream::iter(due)
        .map(|(span, due)| one(span.clone(), due).instrument(span))
        .buffer_unordered(options.workers.max(1))
        .inspect(|carried_out| {
            if let Ok(verdict) = carried_out {
                options.count_settled(verdict);
            }
        })
        .collect::<Vec<_>>();
    let end_of_writes = async {
        stop.cancelled().await;
        writer.close();
        sleep(options.write_deadline).await;
        given_up.cancel();
        std::future::pending().await
    };
    tokio::select! {
        biased;
        // First, or a pass that is woken together with the stop sends one more.
        never = end_of_writes => never,
        verdicts = verdicts => verdicts,
    }
}

/// Of an object whose write was sent, and whose answer nobody waits for any more.
fn unanswered(after: Duration) -> Effect {
    let request = "what was sent".to_owned();
    Effect::Failed(Failure::from(ApiError::Timeout { request, after }))
}

// === impl OnceOptions ===

impl OnceOptions {
    fn count_settled(&self, verdict: &Verdict) {
        self.progress.send_modify(|progress| {
            if let Progress::Writing { done, failed, .. } = progress {
                *done += 1;
                *failed += usize::from(verdict.failure().is_some());
            }
        });
    }
}

// === impl OnceReport ===

impl OnceReport {
    fn is_incomplete(&self) -> bool {
        let not_sent = |verdict: &Verdict| matches!(verdict.effect, Effect::NotSent);
        !self.synced
            || self.not_looked_at > 0
            || self.unanswered > 0
            || self.verdicts.iter().any(not_sent)
    }
}
