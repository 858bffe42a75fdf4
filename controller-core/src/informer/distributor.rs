use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::slot::{Reading, Slot};
use super::transform::Transform;
use crate::handler::Mailbox;
use crate::store::{CacheWriter, Delta, Lister};
use crate::watch::{EventSink, Object, WatchEvent};

/// Brings each event into the cache, and what changed into every handler's mailbox.
///
/// The cache's writer and the handlers are under one lock: a handler that joins sees each
/// object exactly once, from the replay or from an event. All of it outlives the runs.
pub(super) struct Distributor<T> {
    /// Reads the cache that the writer writes. It has a lock of its own, so that readers
    /// never wait for the distribution.
    lister: Lister<T>,
    transform: Option<Transform<T>>,
    state: Mutex<State<T>>,
    /// Told when a mailbox may be without a reader.
    changed: Notify,
}

/// Where a reflector's events go.
pub(super) struct Sink<T>(pub(super) Arc<Distributor<T>>);

struct State<T> {
    writer: CacheWriter<T>,
    slots: Vec<Arc<Slot<T>>>,
}

// === impl Distributor ===

impl<T> Distributor<T> {
    pub(super) fn changed(&self) -> &Notify {
        &self.changed
    }
}

impl<T: Object> Distributor<T> {
    pub(super) fn new(
        writer: CacheWriter<T>,
        lister: Lister<T>,
        transform: Option<Transform<T>>,
    ) -> Self {
        Self {
            lister,
            transform,
            state: Mutex::new(State {
                writer,
                slots: Vec::new(),
            }),
            changed: Notify::new(),
        }
    }

    pub(super) fn lister(&self) -> &Lister<T> {
        &self.lister
    }

    pub(super) fn is_synced(&self) -> bool {
        self.state.lock().writer.is_synced()
    }

    /// Adds a handler, which first hears of what the cache holds.
    pub(super) fn join(&self, slot: &Arc<Slot<T>>) {
        let mailbox = slot.processor.mailbox();
        let mut state = self.state.lock();
        for new in self.lister.list() {
            mailbox.push(Delta::Added { new, initial: true });
        }
        if state.writer.is_synced() {
            mailbox.push_synced();
        }
        state.slots.push(Arc::clone(slot));
        drop(state);
        self.changed.notify_one();
    }

    /// Under the lock, so that no object is delivered again after its deletion.
    pub(super) fn replay(&self, mailbox: &Mailbox<T>) {
        let _in_order = self.state.lock();
        for object in self.lister.list() {
            mailbox.push(Delta::Resynced { object });
        }
    }

    pub(super) fn forget(&self, slot: &Slot<T>) {
        let mut state = self.state.lock();
        state
            .slots
            .retain(|it| !std::ptr::eq(Arc::as_ptr(it), slot));
    }

    /// Claims every mailbox that nobody reads.
    pub(super) fn unread(&self) -> Vec<Reading<T>> {
        let state = self.state.lock();
        state.slots.iter().filter_map(Slot::claim).collect()
    }

    pub(super) fn slots(&self) -> Vec<Arc<Slot<T>>> {
        self.state.lock().slots.clone()
    }
}

// === impl Sink ===

impl<T: Object> EventSink<T> for Sink<T> {
    fn accept(&mut self, event: WatchEvent<T>) {
        // Without the lock: it is somebody else's code.
        let event = match &self.0.transform {
            Some(transform) => transform.apply(event),
            None => event,
        };
        let mut state = self.0.state.lock();
        let was_synced = state.writer.is_synced();
        let deltas = state.writer.apply(event);
        let now_synced = !was_synced && state.writer.is_synced();
        for slot in &state.slots {
            let mailbox = slot.processor.mailbox();
            for delta in &deltas {
                mailbox.push(delta.clone());
            }
            if now_synced {
                mailbox.push_synced();
            }
        }
    }
}
