use std::convert::Infallible;
use std::hash::Hash;

use tower::{Service, ServiceExt};

use super::call_error::caught;
use super::request::ReconcileRequest;
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
    K: Clone + Eq + Hash + Send + 'static,
    S: Service<ReconcileRequest<K>, Response = (), Error = Infallible>,
{
    pub(super) fn new(queue: WorkQueue<K>, service: S) -> Self {
        Self { queue, service }
    }

    /// Serves keys until the queue has none left and takes no more.
    pub(super) async fn run(mut self) {
        let mut next = self.queue.get();
        while let Some(ticket) = next.await {
            let Ok(service) = self.service.ready().await;
            let Ok(()) = service.call(request(&self.queue, &ticket)).await;
            // A reconciler that never waits would otherwise keep its thread for itself.
            tokio::task::coop::consume_budget().await;
            next = ticket.next();
        }
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
