use std::fmt;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use kube::Client;
use tokio::time::{Duration, Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::event_recorder::{EventRecorder, Intake};
use super::plan::{Outcome, SpamLimit, Write};
use super::shared::Shared;
use super::write_log::WriteLog;
use super::{EventCounts, EventMetrics, EventSource, answer, request};
use crate::client::{ApiError, fetch};

/// Writes what recorders record: the half that the program runs.
///
/// ```
/// use controller_core::write::events::{Event, EventSource, EventWriter, ObjectReference};
/// use tokio_util::sync::CancellationToken;
///
/// async fn example(
///     client: kube::Client,
///     shutdown: CancellationToken,
///     work: impl Future<Output = ()>,
///     web: ObjectReference,
/// ) -> Result<(), controller_core::write::events::SourceError> {
///     let writer = EventWriter::new(client, "minrep");
///     let recorder = writer.recorder(EventSource::new("minrep.dev/min-replicas", "pod-1")?);
///
///     recorder.record(Event::normal(web, "Raised", "Scale", "scaled from 1 to 2"));
///     let work = async {
///         work.await;          // they record; then they have ended
///         shutdown.cancel();   // and what they recorded last is flushed
///     };
///     let (counts, ()) = tokio::join!(writer.run(shutdown.clone()), work);
///     tracing::info!(written = counts.written, dropped = counts.dropped_total());
///     Ok(())
/// }
/// ```
///
/// One writer serves a whole program: give each controller a recorder with a source of its
/// own.
///
/// The dangerous mistake is to cancel the token first and to end the controllers then: their
/// last events come after the end, and are only counted.
#[must_use = "nothing is written until `run`"]
pub struct EventWriter {
    client: Client,
    field_manager: String,
    flush_deadline: Duration,
    intake: Arc<Intake>,
    /// Behind `intake` in the order of the fields and so in the order of their end: what is
    /// left is dropped, and counted, when the intake has been closed.
    running: Running,
}

/// Drops and counts what was not written, however a run ends.
struct Running(Arc<Shared>);

/// What a request for `Write` came to.
type Answered = (Write, Result<(), ApiError>);

/// How many requests are under way at once. client-go 0.36 starts a goroutine for each event;
/// its successor has so many workers.
const MAX_WITH_SERVER: usize = 8;

/// How long a request may take, with the client's own retries of what the server invites
/// back (45 s). A client has a shorter limit for each try, or should: what hangs for good must
/// not hold its place for good.
const REQUEST_DEADLINE: Duration = Duration::from_secs(90);

// === impl EventWriter ===

impl EventWriter {
    /// How long the last flush may take, if nothing else is said.
    pub const FLUSH_DEADLINE: Duration = Duration::from_secs(2);

    /// A writer that sends through `client`, and is noted in `managedFields` as
    /// `field_manager`.
    pub fn new(client: Client, field_manager: impl Into<String>) -> Self {
        let shared = Arc::new(Shared::new());
        Self {
            client,
            field_manager: field_manager.into(),
            flush_deadline: Self::FLUSH_DEADLINE,
            intake: Arc::new(Intake(Arc::clone(&shared))),
            running: Running(shared),
        }
    }

    /// How long after the end what was recorded before it may still be sent.
    pub fn flush_deadline(mut self, deadline: Duration) -> Self {
        self.flush_deadline = deadline;
        self
    }

    /// Where its counts can be read; see [`EventMetrics`].
    pub fn metrics(self, metrics: &EventMetrics) -> Self {
        metrics.follow(Arc::clone(&self.running.0));
        self
    }

    /// How many events about one object are sent.
    pub fn spam_limit(self, limit: SpamLimit) -> Self {
        self.running.0.plan().set_spam_limit(limit);
        self
    }

    /// A recorder that reports as `source`. Recorders of equal sources share their series.
    ///
    /// What is recorded before [`run`](Self::run) waits for it, up to the bound of the
    /// buffer.
    pub fn recorder(&self, source: EventSource) -> EventRecorder {
        EventRecorder::to_writer(Arc::clone(&self.intake), source)
    }

    /// Writes events until `shutdown` is cancelled, or until all recorders were dropped.
    /// Then takes up nothing more, and gives what was recorded before one last try each,
    /// counts of series included, for no longer than the flush deadline. Returns what became
    /// of everything.
    ///
    /// Everything happens in this future; it starts no tasks. Dropping it drops the requests
    /// under way, and counts them with all else that was not written.
    pub async fn run(self, shutdown: CancellationToken) -> EventCounts {
        let Self {
            client,
            field_manager,
            flush_deadline,
            intake,
            running,
        } = self;
        // Only recorders keep the intake open now.
        drop(intake);
        let shared = &*running.0;
        let mut log = WriteLog::default();
        let mut requests: FuturesUnordered<BoxFuture<'_, Answered>> = FuturesUnordered::new();
        let mut ends_at: Option<Instant> = None;
        loop {
            let due = {
                let mut plan = shared.plan();
                plan.tick(shared.now());
                while requests.len() < MAX_WITH_SERVER
                    && let Some(write) = plan.next()
                {
                    requests.push(Box::pin(send(&client, &field_manager, write)));
                }
                if plan.is_closed() {
                    ends_at = ends_at.or(Some(Instant::now() + flush_deadline));
                    if plan.is_idle() {
                        break;
                    }
                }
                plan.due()
            };
            tokio::select! {
                biased;
                () = at(ends_at) => break,
                () = shutdown.cancelled(), if ends_at.is_none() => shared.close(),
                Some((write, answer)) = requests.next() => settle(shared, &mut log, &write, &answer),
                () = shared.woken() => {}
                () = at(due.map(|due| shared.instant(due))) => {}
            }
        }
        drop(requests);
        running.end()
    }
}

impl fmt::Debug for EventWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventWriter")
            .field("field_manager", &self.field_manager)
            .field("flush_deadline", &self.flush_deadline)
            .finish_non_exhaustive()
    }
}

/// Never, if there is no such time.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

async fn send(client: &Client, field_manager: &str, write: Write) -> Answered {
    let call = request::call(&write, field_manager);
    let line = call.line();
    let answer = timeout(REQUEST_DEADLINE, fetch::<request::Stored>(client, call)).await;
    let answer = match answer {
        Ok(Ok(stored)) => {
            tracing::debug!(event = stored.name(), "event written");
            Ok(())
        }
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ApiError::Timeout {
            request: line,
            after: REQUEST_DEADLINE,
        }),
    };
    (write, answer)
}

fn settle(shared: &Shared, log: &mut WriteLog, write: &Write, answer: &Result<(), ApiError>) {
    let outcome = answer::outcome(&write.kind, answer);
    let dropped = {
        let mut plan = shared.plan();
        let now = shared.now();
        plan.answered(&write.key, outcome, now, rand::random())
    };
    match (outcome, answer) {
        (Outcome::Refused, Err(error)) => log.refused(error),
        (Outcome::Failed { .. }, Err(error)) => log.failed(error),
        // `Exists` and `Vanished` are answers too: the server is there.
        _ => log.written(),
    }
    if let Some(reason) = dropped {
        tracing::debug!(event = %write.key.recorded().event, %reason, "event dropped");
    }
}

// === impl Running ===

impl Running {
    fn end(self) -> EventCounts {
        let counts = {
            let mut plan = self.0.plan();
            plan.abandon();
            plan.counts()
        };
        if counts.dropped_total() > 0 {
            tracing::info!(
                written = counts.written,
                dropped = counts.dropped_total(),
                "not all events were written"
            );
        }
        counts
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.plan().abandon();
    }
}
