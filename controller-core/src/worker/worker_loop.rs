use std::convert::Infallible;
use std::fmt::Display;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use tower::{Service, ServiceExt};

use super::call_error::{CallError, caught};
use super::key_text::KeyText;
use super::request::ReconcileRequest;
use super::settle::WITHOUT_LIMITER;
use crate::queue::{Ticket, WorkQueue};

/// One worker: takes a key, has it reconciled and settled, and begins again.
#[derive(Clone)]
pub(super) struct Worker<K, S> {
    queue: WorkQueue<K>,
    service: S,
}

// === impl Worker ===

impl<K, S> Worker<K, S>
where
    K: Clone + Eq + Hash + Send + Sync + Display + 'static,
    S: Service<ReconcileRequest<K>, Response = (), Error = Infallible>,
{
    pub(super) fn new(queue: WorkQueue<K>, service: S) -> Self {
        Self { queue, service }
    }

    /// Serves keys until the queue has none left and takes no more. A worker that is dropped
    /// meanwhile gives its key back.
    pub(super) async fn run(mut self) {
        let mut next = self.queue.get();
        while let Some(mut ticket) = next.await {
            ticket.hold();
            match self.serve(&ticket).await {
                Ok(()) => ticket.settled(),
                Err(panic) => {
                    ticket.come_back_after(WITHOUT_LIMITER);
                    tracing::error!(
                        key = %KeyText(&*ticket),
                        error = %panic,
                        "the key could not be settled, it is looked at again in {WITHOUT_LIMITER:?}",
                    );
                }
            }
            // A reconciler that never waits would otherwise keep its thread for itself.
            tokio::task::coop::consume_budget().await;
            next = ticket.next();
        }
    }

    /// Calls and their settling are isolated, so what panics here is a key, when it is compared,
    /// hashed or cloned.
    async fn serve(&mut self, ticket: &Ticket<K>) -> Result<(), CallError> {
        let Self { queue, service } = self;
        let call = async {
            let Ok(service) = service.ready().await;
            let Ok(()) = service.call(request(queue, ticket)).await;
        };
        let served = AssertUnwindSafe(call).catch_unwind().await;
        served.map_err(CallError::panicked)
    }
}

fn request<K>(queue: &WorkQueue<K>, ticket: &Ticket<K>) -> ReconcileRequest<K>
where
    K: Clone + Eq + Hash + Send + 'static,
{
    // A limiter that panics here will when it is asked for a wait, and is told of then.
    let failures = caught(|| queue.num_requeues(ticket)).unwrap_or(0);
    let key: &K = ticket;
    ReconcileRequest::new(key.clone())
        .with_attempt(failures.saturating_add(1))
        .with_queued_for(ticket.queued_for())
}
