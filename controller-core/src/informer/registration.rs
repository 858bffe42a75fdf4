use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// One handler's place at an informer. Dropping it does not remove the handler.
pub struct Registration {
    pub(super) synced: watch::Receiver<bool>,
    pub(super) ended: watch::Receiver<bool>,
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
    /// Never await this inside the handler itself: it would wait for its own end.
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
