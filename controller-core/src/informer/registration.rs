use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// One handler's place at an informer. Dropping it does not remove the handler.
///
/// It is what to wait for before the workers start. A full cache is not enough: the handler
/// hears of the first list one object after the other, and until it has heard of the last
/// one a queue that is empty may only be behind.
///
/// ```text
/// first list complete ──► cache synced ──► … calls of the handler … ──► handler synced
/// ```
///
/// A handler whose calls panic syncs all the same: a panic costs one delivery.
pub struct Registration {
    /// Set by the handler's task. That task's end drops the other side, which is how
    /// [`synced`](Registration::synced) learns that it will never be set.
    pub(super) synced: watch::Receiver<bool>,
    pub(super) ended: watch::Receiver<bool>,
    /// A child of the informer's token: cancelled by a removal, or by the informer's end.
    pub(super) removed: CancellationToken,
    pub(super) panics: Arc<AtomicU64>,
}

// === impl Registration ===

impl Registration {
    /// Whether the handler has heard of everything that the first list brought. The
    /// cache alone may be synced earlier.
    pub fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// Waits until [`has_synced`](Self::has_synced). Returns `false` if the handler was
    /// removed or the informer stopped before.
    ///
    /// For as long as the first list is refused it waits, be it for ever. A program puts its
    /// shutdown beside it, and looks at [`SharedInformer::status`] for the reason.
    ///
    /// [`SharedInformer::status`]: super::SharedInformer::status
    pub async fn synced(&self) -> bool {
        self.synced.clone().wait_for(|synced| *synced).await.is_ok()
    }

    /// How many of its calls panicked.
    pub fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Removes the handler and waits until its last call has returned. What it has not
    /// heard yet is dropped.
    ///
    /// The dangerous mistake is to wait for this inside the handler itself: it would wait
    /// for its own end.
    pub async fn remove(self) {
        self.removed.cancel();
        // An error means that the task is gone already.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("has_synced", &self.has_synced())
            .field("panics", &self.panics())
            .finish_non_exhaustive()
    }
}
