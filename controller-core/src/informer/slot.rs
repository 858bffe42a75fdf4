use std::borrow::Cow;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::distributor::Distributor;
use crate::handler::{Episode, Pace, Processor, Turn};
use crate::watch::Object;

/// One handler's place at an informer. It outlives the informer's runs.
pub(super) struct Slot<T> {
    pub(super) processor: Processor<T>,
    /// Whether a task reads the mailbox. One at a time: a handler hears in order.
    reading: watch::Sender<bool>,
    episode: Mutex<Episode>,
    home: Weak<Distributor<T>>,
}

/// The task that reads the mailbox. Dropped, it has ended.
pub(super) struct Reading<T>(pub(super) Arc<Slot<T>>);

/// What a [`Registration`](super::Registration) needs of a slot, whatever its kind.
pub(super) trait Seat: Send + Sync {
    fn name(&self) -> Cow<'_, str>;
    fn has_synced(&self) -> bool;
    fn synced(&self) -> watch::Receiver<bool>;
    fn removed(&self) -> &CancellationToken;
    fn panics(&self) -> u64;
    fn pace(&self) -> Pace;
    /// Ends when the last call has returned.
    fn reading(&self) -> watch::Receiver<bool>;
    fn leave(&self);
}

// === impl Slot ===

impl<T: Object> Slot<T> {
    pub(super) fn new(processor: Processor<T>, home: &Arc<Distributor<T>>) -> Self {
        Self {
            processor,
            reading: watch::Sender::new(false),
            episode: Mutex::default(),
            home: Arc::downgrade(home),
        }
    }

    /// Claims the mailbox; `None` while somebody else reads it.
    pub(super) fn claim(self: &Arc<Self>) -> Option<Reading<T>> {
        let claimed = self
            .reading
            .send_if_modified(|reading| !std::mem::replace(reading, true));
        claimed.then(|| Reading(Arc::clone(self)))
    }

    pub(super) fn is_read(&self) -> bool {
        *self.reading.borrow()
    }

    /// Whether the handler has fallen behind since somebody last looked, or caught up.
    pub(super) fn look(&self) -> Option<(Turn, Pace)> {
        let pace = self.processor.mailbox().take_pace();
        let turn = self.episode.lock().look(pace)?;
        Some((turn, pace))
    }
}

impl<T: Object> Seat for Slot<T> {
    fn name(&self) -> Cow<'_, str> {
        self.processor.name()
    }

    fn has_synced(&self) -> bool {
        self.processor.has_synced()
    }

    fn synced(&self) -> watch::Receiver<bool> {
        self.processor.synced()
    }

    fn removed(&self) -> &CancellationToken {
        self.processor.removed()
    }

    fn panics(&self) -> u64 {
        self.processor.panics()
    }

    fn pace(&self) -> Pace {
        self.processor.pace()
    }

    fn reading(&self) -> watch::Receiver<bool> {
        self.reading.subscribe()
    }

    fn leave(&self) {
        // First out of the list, so that no task is started for it any more.
        if let Some(home) = self.home.upgrade() {
            home.forget(self);
        }
        self.processor.remove();
    }
}

// === impl Reading ===

impl<T> Drop for Reading<T> {
    fn drop(&mut self) {
        self.0.reading.send_replace(false);
        // A run that began while this one hung has been waiting for the mailbox.
        if let Some(home) = self.0.home.upgrade() {
            home.changed().notify_one();
        }
    }
}
