use kube::Client;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Duration, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::late::{Answer, Late, Waiting};
use super::min_replicas;
use super::scale::{self, Scale};
use crate::client::{ApiError, fetch};
use crate::controllers::min_replicas::{
    Class, Effect, HorizontalPodAutoscaler, Raise, Reporter, Through, Verdict, WriteError,
    WriteScale,
};

/// Sends raises to the server.
///
/// One for a whole run. The order at the end is [`close`](Self::close), then
/// [`flush`](Self::flush): the dangerous mistake is to drop the runtime without flushing,
/// which leaves it open whether the last writes were applied.
///
/// ```
/// use controller_core::write::ScaleWriter;
/// use tokio::time::Duration;
///
/// # async fn example(client: kube::Client, workers: impl Future<Output = ()>) {
/// let writer = ScaleWriter::new(client); // whose request timeout is 30 s
/// workers.await;                         // they ask for writes; then they have ended
/// let unanswered = writer.flush(Duration::from_secs(31)).await;
/// if unanswered > 0 {
///     tracing::warn!(unanswered, "these writes may have been applied");
/// }
/// # }
/// ```
///
/// A caller that is dropped while it waits, by a reconcile deadline or a shutdown, takes
/// nothing back: the write goes on, and [`on_late_answer`](Self::on_late_answer) hears of it.
pub struct ScaleWriter {
    client: Client,
    /// One task a write that was sent. Closed by [`close`](Self::close), so that waiting for
    /// it ends.
    tasks: TaskTracker,
    /// Held while a request is started, so that none is after `close` has returned.
    starting: Mutex<()>,
    /// Cancelled by `close`. Every request carries it, so that none is sent again.
    closed: CancellationToken,
    late: Late,
}

// === impl ScaleWriter ===

impl ScaleWriter {
    /// A writer that sends through `client`, whose layers set the deadline of a request.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            tasks: TaskTracker::new(),
            starting: Mutex::new(()),
            closed: CancellationToken::new(),
            late: Late::new(|_, _| {}),
        }
    }

    /// Calls `tell` with each write that was answered after its caller had been dropped, and
    /// with the number that the server has now: a change that nobody is told of is the worst
    /// end of a run. A refusal is told too, unless the object was
    /// [settled](#impl-Reporter-for-ScaleWriter) by then.
    #[must_use]
    pub fn on_late_answer(
        mut self,
        tell: impl Fn(&Raise, Result<i32, ApiError>) + Send + Sync + 'static,
    ) -> Self {
        self.late = Late::new(tell);
        self
    }

    /// From now on nothing is sent, nor sent again: further writes end in
    /// [`WriteError::Closed`], and so do those that the server turns away with the advice to
    /// come back later. What was sent goes on.
    pub fn close(&self) {
        let _starting = self.starting.lock();
        self.closed.cancel();
        self.tasks.close();
    }

    /// Closes, and waits until every write that was sent has its answer, but no longer
    /// than `deadline`: give the deadline of a request and a little more. Returns how many
    /// had none by then, or ended without one when nobody waited for them any more and nobody
    /// looked at their objects afterwards.
    pub async fn flush(&self, deadline: Duration) -> usize {
        self.close();
        // On a timeout the count below says what is left.
        let _ = timeout(deadline, self.tasks.wait()).await;
        self.tasks.len() + self.late.lost()
    }

    /// How many writes were sent and have no answer yet.
    pub fn in_flight(&self) -> usize {
        self.tasks.len()
    }
}

/// Sends the write, again only until `closed`, and reads from the answer what the server has
/// now.
async fn send(client: &Client, raise: &Raise, dry_run: bool, closed: CancellationToken) -> Answer {
    match &raise.through {
        Through::Scale => {
            let call = scale::patch(raise, dry_run).with_retries_until(closed);
            let scale: Scale = fetch(client, call).await?;
            Ok(scale.replicas())
        }
        Through::Autoscaler { name, .. } => {
            let call = min_replicas::patch(raise, name, dry_run).with_retries_until(closed);
            let autoscaler: HorizontalPodAutoscaler = fetch(client, call).await?;
            Ok(autoscaler.min())
        }
    }
}

/// The server has not begun with it and says when to come back.
fn is_turned_away(error: &ApiError) -> bool {
    error.retry_after().is_some() && matches!(error.code(), Some(429 | 503))
}

impl WriteScale for ScaleWriter {
    async fn write_scale(&self, raise: &Raise, dry_run: bool) -> Result<i32, WriteError> {
        let client = self.client.clone();
        let (heard, answer) = oneshot::channel();
        let id = self.late.new_id();
        let (late, sent, closed) = (self.late.clone(), raise.clone(), self.closed.clone());
        let request = async move {
            let answer = send(&client, &sent, dry_run, closed).await;
            if let Err(unheard) = heard.send(answer) {
                late.hear(id, &sent, unheard);
            }
        }
        .in_current_span();
        let task = {
            let _starting = self.starting.lock();
            if self.closed.is_cancelled() {
                return Err(WriteError::Closed);
            }
            self.tasks.spawn(request)
        };
        let mut waiting = Waiting {
            id,
            raise: raise.clone(),
            answer,
            late: self.late.clone(),
        };
        if let Ok(answer) = (&mut waiting.answer).await {
            return match answer {
                // But for the end it would have been sent again.
                Err(error) if self.closed.is_cancelled() && is_turned_away(&error) => {
                    Err(WriteError::Closed)
                }
                answer => Ok(answer?),
            };
        }
        // Nobody aborts these tasks, so it panicked: a bug below us, and the worker that
        // called is the one who isolates panics.
        let error = task
            .await
            .expect_err("invariant: a request that ends has sent its answer");
        std::panic::resume_unwind(error.into_panic())
    }
}

/// Hears what later looks at an object came to. One that finds the object as it should be, or
/// raises it, settles what an earlier write to it left open: a refusal of that is no news any
/// more, and it no longer counts as unanswered.
impl Reporter for ScaleWriter {
    fn report(&self, verdict: &Verdict) {
        let is_settled = match &verdict.effect {
            Effect::Raised { .. } | Effect::WouldRaise { .. } => true,
            Effect::None => verdict.reason.class() != Class::Waiting,
            Effect::Failed(_) | Effect::NotSent | Effect::Withheld => false,
        };
        if is_settled {
            self.late.settled(&verdict.key);
        }
    }
}
