use std::convert::Infallible;
use std::fmt::Display;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::call_error::{CallError, caught};
use super::chain::Chain;
use super::failure_log::{FailureLog, Next};
use super::fate::{Fate, GivenUp};
use super::key_text::KeyText;
use super::layers::Metered;
use super::reconciler::{Outcome, ReconcileError};
use super::request::ReconcileRequest;
use super::summary::PoolSummary;
use crate::queue::WorkQueue;

/// The last net: a service that never fails and never panics, whatever the one in it does.
/// It tells the queue what is to become of the key, while the ticket still keeps others off.
pub(super) struct Settle<K, S> {
    /// Each call is made by a clone, so that none sees what a panic left of another.
    service: Arc<Mutex<Metered<S>>>,
    settler: Arc<Settler<K>>,
}

pub(super) struct Settler<K> {
    queue: WorkQueue<K>,
    errors_are_told: bool,
    pub(super) log: FailureLog<K>,
    tally: Mutex<PoolSummary>,
}

/// When a key comes back whose limiter panicked, or that could not be settled. Long enough that
/// a limiter that always does is no hot loop, short enough for a person who waits.
pub(super) const WITHOUT_LIMITER: Duration = Duration::from_secs(10);

// === impl Settle ===

impl<K, S> Settle<K, S> {
    pub(super) fn new(service: Metered<S>, settler: Arc<Settler<K>>) -> Self {
        Self {
            service: Arc::new(Mutex::new(service)),
            settler,
        }
    }
}

impl<K, S> Clone for Settle<K, S> {
    fn clone(&self) -> Self {
        Self {
            service: Arc::clone(&self.service),
            settler: Arc::clone(&self.settler),
        }
    }
}

impl<K, S> Service<ReconcileRequest<K>> for Settle<K, S>
where
    K: Clone + Eq + Hash + Send + Sync + Display + 'static,
    S: Service<ReconcileRequest<K>, Response = Outcome, Error: Into<ReconcileError>, Future: Send>
        + Clone
        + Send
        + 'static,
{
    type Response = ();
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<(), Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ReconcileRequest<K>) -> Self::Future {
        let (key, fate) = (request.key().clone(), request.fate().clone());
        let cancelled = request.cancelled().clone();
        // It is always ready, and clones what is in it.
        let call = caught(|| self.service.lock().call(request));
        let settler = Arc::clone(&self.settler);
        async move {
            let ended = settler.end_of(call, cancelled, &fate).await;
            settler.settle(&key, ended, &fate);
            Ok(())
        }
        .boxed()
    }
}

// === impl Settler ===

impl<K> Settler<K>
where
    K: Clone + Eq + Hash + Send + Sync + Display + 'static,
{
    pub(super) fn new(queue: WorkQueue<K>, errors_are_told: bool) -> Self {
        Self {
            queue,
            errors_are_told,
            log: FailureLog::new(),
            tally: Mutex::default(),
        }
    }

    pub(super) fn summary(&self) -> PoolSummary {
        *self.tally.lock()
    }

    /// What came of one call, `None` if the queue was halted before it ended. The token fires
    /// unless the reconciler answered.
    async fn end_of(
        &self,
        call: Result<impl Future<Output = Result<Outcome, ReconcileError>>, CallError>,
        cancelled: CancellationToken,
        fate: &Fate,
    ) -> Option<Result<Outcome, ReconcileError>> {
        // Fires also when this future is dropped.
        let unless_answered = cancelled.clone().drop_guard();
        let halted = self.queue.halted().map(|()| cancelled.cancel());
        let call = async move { call?.await };
        // A call that is dropped at the halt may panic too.
        let call = AssertUnwindSafe(async move {
            tokio::select! {
                biased;
                () = halted => None,
                answer = call => Some(answer),
            }
        });
        let ended = call.catch_unwind().await.unwrap_or_else(|payload| {
            fate.note(GivenUp::Panicked);
            Some(Err(CallError::panicked(payload).into()))
        });
        if let Some(answer) = &ended
            && !matches!(answer, Err(error) if fate.of(error).is_some())
        {
            unless_answered.disarm();
        }
        ended
    }

    fn settle(&self, key: &K, ended: Option<Result<Outcome, ReconcileError>>, fate: &Fate) {
        match ended {
            None => {
                self.tally.lock().cancelled += 1;
                tracing::debug!("reconcile cancelled: the queue is halted");
            }
            Some(Ok(Outcome::NotYet(delay))) => {
                self.tally.lock().reconciled += 1;
                self.queue.add_after(key.clone(), delay);
            }
            Some(Ok(outcome)) => {
                self.tally.lock().reconciled += 1;
                self.forget(key);
                if let Outcome::RequeueAfter(delay) = outcome {
                    self.queue.add_after(key.clone(), delay);
                }
                self.log.succeeded(key);
            }
            Some(Err(error)) => {
                let given_up = fate.of(&error);
                self.failed(key, error, given_up);
            }
        }
    }

    fn failed(&self, key: &K, error: ReconcileError, given_up: Option<GivenUp>) {
        let next = match &error {
            ReconcileError::Transient(_) => Next::Retry,
            ReconcileError::Terminal(_) => Next::GiveUp,
        };
        match next {
            Next::Retry => self.retry(key),
            Next::GiveUp => self.forget(key),
        }
        if given_up == Some(GivenUp::Panicked) {
            self.tally.lock().panicked += 1;
        } else {
            self.tally.lock().failed += 1;
        }
        // The words of the error are the reconciler's, and so is its drop.
        if let Err(panic) = caught(move || self.tell(key, &error, next, given_up)) {
            let key = KeyText(key);
            tracing::error!(%key, error = %panic, "reconcile failed, and so did telling why");
        }
    }

    fn tell(&self, key: &K, error: &ReconcileError, next: Next, given_up: Option<GivenUp>) {
        let (ReconcileError::Transient(cause) | ReconcileError::Terminal(cause)) = error;
        let text = Chain(cause.as_ref()).to_string();
        if self.errors_are_told && given_up.is_none() {
            tracing::debug!(error = text, "reconcile failed");
        } else {
            self.log.failed(key, &text, next);
        }
    }

    fn retry(&self, key: &K) {
        if let Err(panic) = caught(|| self.queue.add_rate_limited(key.clone())) {
            self.queue.add_after(key.clone(), WITHOUT_LIMITER);
            tracing::error!(
                key = %KeyText(key),
                error = %panic,
                "the rate limiter failed, the key is retried in {WITHOUT_LIMITER:?}",
            );
        }
    }

    fn forget(&self, key: &K) {
        if let Err(panic) = caught(|| self.queue.forget(key)) {
            tracing::error!(
                key = %KeyText(key),
                error = %panic,
                "the rate limiter failed, and may not have forgotten the key",
            );
        }
    }
}
