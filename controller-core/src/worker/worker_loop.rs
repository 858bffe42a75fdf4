use std::fmt::Display;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use tower::{Service, ServiceExt};
use tracing::Instrument;

use super::failure_log::{FailureLog, Next};
use super::failures::{CallError, Chain};
use super::reconciler::{Outcome, ReconcileError};
use super::span::reconcile_span;
use super::summary::PoolSummary;
use crate::queue::{Ticket, WorkQueue};

/// One worker: takes a key, has it reconciled, settles it, and begins again.
pub(super) struct Worker<K, S> {
    pub(super) queue: WorkQueue<K>,
    pub(super) service: S,
    pub(super) deadline: Option<Duration>,
    pub(super) errors_are_told: bool,
    pub(super) log: Arc<FailureLog<K>>,
    pub(super) tally: Arc<Mutex<PoolSummary>>,
}

// === impl Worker ===

impl<K, S> Worker<K, S>
where
    K: Clone + Eq + Hash + Send + Sync + Display + 'static,
    S: Service<K, Response = Outcome, Error: Into<ReconcileError>, Future: Send> + Clone + Send,
{
    /// Serves keys until the queue has none left and takes no more.
    pub(super) async fn run(mut self) {
        let mut halted = pin!(self.queue.halted());
        while let Some(ticket) = self.queue.get().await {
            let span = reconcile_span(self.queue.name(), &*ticket);
            self.serve(ticket, halted.as_mut()).instrument(span).await;
            // A reconciler that never waits would otherwise keep its thread for itself.
            tokio::task::coop::consume_budget().await;
        }
    }

    async fn serve(&mut self, ticket: Ticket<K>, halted: Pin<&mut impl Future<Output = ()>>) {
        let call = self.call(ticket.clone());
        let result = tokio::select! {
            biased;
            () = halted => None,
            result = call => Some(result),
        };
        match result {
            None => {
                self.tally.lock().cancelled += 1;
                tracing::debug!("reconcile cancelled: the queue is halted");
            }
            Some(Ok(result)) => self.settle(&ticket, result),
            Some(Err(error)) => self.settle_broken(&ticket, &error),
        }
    }

    /// One call: its own result, or why there is none. The service is cloned for each
    /// call, so none sees what a panic left of another.
    async fn call(&mut self, key: K) -> Result<Result<Outcome, ReconcileError>, CallError> {
        let service = self.service.clone();
        let call = async move { service.oneshot(key).await.map_err(Into::into) };
        let call = AssertUnwindSafe(call).catch_unwind();
        let caught = match self.deadline {
            None => call.await,
            Some(deadline) => tokio::time::timeout(deadline, call)
                .await
                .map_err(|_| CallError::DeadlineExceeded(deadline))?,
        };
        caught.map_err(|payload| CallError::panicked(&*payload))
    }

    /// Tells the queue what came of the key, while the ticket still keeps others off.
    fn settle(&self, key: &K, result: Result<Outcome, ReconcileError>) {
        let error = match result {
            Ok(outcome) => {
                self.queue.forget(key);
                if let Outcome::RequeueAfter(delay) = outcome {
                    self.queue.add_after(key.clone(), delay);
                }
                self.tally.lock().reconciled += 1;
                return self.log.succeeded(key);
            }
            Err(error) => error,
        };
        self.tally.lock().failed += 1;
        let (cause, next) = match &error {
            ReconcileError::Transient(cause) => (cause, Next::Retry),
            ReconcileError::Terminal(cause) => (cause, Next::GiveUp),
        };
        self.requeue(key, next);
        let error = Chain(cause.as_ref()).to_string();
        if self.errors_are_told {
            tracing::debug!(error, "reconcile failed");
        } else {
            self.log.failed(key, &error, next);
        }
    }

    fn settle_broken(&self, key: &K, error: &CallError) {
        match error {
            CallError::Panicked(_) => self.tally.lock().panicked += 1,
            CallError::DeadlineExceeded(_) => self.tally.lock().failed += 1,
        }
        self.requeue(key, Next::Retry);
        self.log.failed(key, &error.to_string(), Next::Retry);
    }

    fn requeue(&self, key: &K, next: Next) {
        match next {
            Next::Retry => self.queue.add_rate_limited(key.clone()),
            Next::GiveUp => self.queue.forget(key),
        }
    }
}

impl<K, S: Clone> Clone for Worker<K, S> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            service: self.service.clone(),
            deadline: self.deadline,
            errors_are_told: self.errors_are_told,
            log: Arc::clone(&self.log),
            tally: Arc::clone(&self.tally),
        }
    }
}
