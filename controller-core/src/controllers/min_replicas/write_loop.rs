use super::after_write::{Live, MAX_REPLANS, Next, Refusal, after_refusal};
use super::deployment::Deployment;
use super::failure::Failure;
use super::plan::Plan;
use super::raise::Raise;
use super::reason::Reason;
use super::reconciler::MinReplicas;
use super::settings::DryRun;
use super::verdict::{Effect, Verdict};
use super::write_scale::{WriteError, WriteScale};
use crate::client::ApiError;

// === impl MinReplicas ===

impl<W: WriteScale> MinReplicas<W> {
    /// Writes `raise`; after any refusal looks at the live object and decides anew.
    ///
    /// Sends at most [`MAX_REPLANS`] + 1 writes, each guarded by the newest observation.
    pub(super) async fn write(&self, mut raise: Raise) -> Verdict {
        let dry_run = self.settings.dry_run == DryRun::Server;
        let mut replans = 0;
        loop {
            let error = match self.writer.write_scale(&raise, dry_run).await {
                Ok(kept) => return Verdict::answered(&raise, kept, self.settings.dry_run),
                Err(WriteError::Closed) => return self.tried(&raise, Effect::NotSent),
                Err(WriteError::Api(error)) => error,
            };
            let refusal = Refusal::from(&error);
            let read = self.read_live(&raise.key).await;
            let live = match &read {
                Ok(Some(live)) => Live::Found(live),
                Ok(None) => Live::Gone,
                Err(_) => Live::Unread,
            };
            let live = match after_refusal(refusal, &raise, live, dry_run) {
                Next::Gone => return self.gone(&raise.key),
                Next::Done => return self.done(&raise),
                Next::ReportWrite => return self.failed(&raise, error.into()),
                Next::ReportRead => {
                    return self.failed(&raise, read.err().unwrap_or(error).into());
                }
                Next::PlanAgain(live) => live,
            };
            raise = match self.plan_for(live) {
                Plan::Leave(reason) => return self.left_meanwhile(live, reason),
                Plan::Raise(next) if replans < MAX_REPLANS => next,
                Plan::Raise(next) => return self.failed(&next, exhausted(refusal, error)),
            };
            replans += 1;
        }
    }

    fn done(&self, raise: &Raise) -> Verdict {
        Verdict::answered(raise, raise.to, self.settings.dry_run)
    }

    fn failed(&self, raise: &Raise, failure: Failure) -> Verdict {
        self.tried(raise, Effect::Failed(failure))
    }

    /// It was opted in when the write was planned. If it has left the set that is watched,
    /// those are the words, and its cache entry will go with the same ones.
    fn left_meanwhile(&self, live: &Deployment, reason: Reason) -> Verdict {
        let reason = match reason {
            Reason::NotOptedIn { found: None, .. } | Reason::NotSelected { .. } => {
                Reason::NoLongerOptedIn
            }
            other => other,
        };
        self.left(live, reason)
    }
}

/// What is reported when the object changed under every try.
fn exhausted(refusal: Refusal, error: ApiError) -> Failure {
    match refusal {
        Refusal::Conflict => Failure::Conflicts {
            tries: MAX_REPLANS + 1,
        },
        Refusal::Refused | Refusal::Lost => error.into(),
    }
}
