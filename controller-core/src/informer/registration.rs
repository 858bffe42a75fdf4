use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::lifecycle::Lifecycle;
use super::slot::Seat;

/// One handler's place at an informer. Dropping it does not remove the handler; it is good
/// for as many runs as the informer has.
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
    pub(super) seat: Arc<dyn Seat>,
    pub(super) lifecycle: watch::Receiver<Lifecycle>,
}

// === impl Registration ===

impl Registration {
    /// Whether the handler has heard of everything that the first list brought. The
    /// cache alone may be synced earlier. Once true it stays so, also while the informer is
    /// stopped, and in the next run, whose own list it does not tell of: see
    /// [`listed_this_run`](crate::watch::ReflectorStatus::listed_this_run).
    pub fn has_synced(&self) -> bool {
        self.seat.has_synced()
    }

    /// Waits until [`has_synced`](Self::has_synced). Returns `false` if the handler was
    /// removed, or the informer stopped, before; where it is started again, ask again.
    ///
    /// For as long as the first list is refused it waits, be it for ever, and so it does for
    /// an informer that nobody runs. A program puts its shutdown beside it, and looks at
    /// [`SharedInformer::status`] for the reason.
    ///
    /// [`SharedInformer::status`]: super::SharedInformer::status
    #[must_use = "a handler that was stopped early has not heard of everything"]
    pub async fn synced(&self) -> bool {
        let (mut synced, mut lifecycle) = (self.seat.synced(), self.lifecycle.clone());
        tokio::select! {
            biased;
            synced = synced.wait_for(|synced| *synced) => synced.is_ok(),
            () = self.seat.removed().cancelled() => false,
            // An error means that the informer is gone, and was never run.
            _ = lifecycle.wait_for(|now| *now == Lifecycle::Stopped) => false,
        }
    }

    /// What the handler calls itself, see
    /// [`EventHandler::name`](crate::handler::EventHandler::name).
    pub fn name(&self) -> String {
        self.seat.name().into_owned()
    }

    /// How many of its calls panicked.
    pub fn panics(&self) -> u64 {
        self.seat.panics()
    }

    /// How many changes it has not heard yet, with the one that it is hearing. Beyond the
    /// informer's [buffer](super::InformerOptions::buffer) there is one for each object.
    pub fn pending(&self) -> usize {
        self.seat.pace().pending
    }

    /// How long ago the oldest of them happened, at most; zero if it has heard everything.
    ///
    /// A handler that takes a second for a call, or is five seconds behind, has one warning
    /// in the log, and one line when it has caught up.
    pub fn lag(&self) -> Duration {
        self.seat.pace().lag
    }

    /// Removes the handler and waits until its last call has returned. What it has not
    /// heard yet is dropped. Of use at any time, also while the informer does not run.
    ///
    /// Dropping the future removes it all the same.
    ///
    /// The dangerous mistake is to wait for this inside the handler itself: it would wait
    /// for its own end.
    pub async fn remove(self) {
        self.seat.leave();
        // The sender is in the seat, which is ours.
        let _ = self.seat.reading().wait_for(|reading| !reading).await;
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("name", &self.name())
            .field("has_synced", &self.has_synced())
            .field("pending", &self.pending())
            .field("panics", &self.panics())
            .finish_non_exhaustive()
    }
}
