use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::worker::{Outcome, ReconcileError, Reconciler};

/// Keeps a reconciler from its work for as long as it would decide from too little. A clone
/// is the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Hold(Arc<watch::Sender<bool>>);

/// A reconciler that waits while it is held. A call that had begun before is not stopped.
pub(super) struct Held<R> {
    reconciler: R,
    hold: Hold,
    shutdown: CancellationToken,
}

// === impl Hold ===

impl Hold {
    /// Holds, or lets go.
    pub(super) fn set(&self, held: bool) {
        self.0.send_replace(held);
    }

    /// `reconciler`, subject to this hold. From `shutdown` on a call that would have to wait
    /// fails at once instead: the end does not wait for it, and its key counts as undone.
    pub(super) fn over<R>(&self, reconciler: R, shutdown: CancellationToken) -> Held<R> {
        Held {
            reconciler,
            hold: self.clone(),
            shutdown,
        }
    }
}

// === impl Held ===

impl<R: Reconciler> Reconciler for Held<R> {
    type Key = R::Key;

    async fn reconcile(&self, key: &R::Key) -> Result<Outcome, ReconcileError> {
        let mut held = self.hold.0.subscribe();
        tokio::select! {
            biased;
            // The sender is ours, so it does not end.
            _ = held.wait_for(|held| !held) => {}
            () = self.shutdown.cancelled() => {
                return Err(ReconcileError::transient("stopped while it was held back"));
            }
        }
        self.reconciler.reconcile(key).await
    }
}
