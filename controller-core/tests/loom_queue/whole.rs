//! The queue that programs use.
use std::time::Duration;

use controller_core::queue::{Drained, Get, Ticket, WorkQueue};

pub(crate) type Key = u8;

#[derive(Clone)]
pub(crate) struct Queue(WorkQueue<Key>);

// === impl Queue ===

impl Queue {
    pub(crate) fn new() -> Self {
        Self(WorkQueue::new("loom"))
    }

    pub(crate) fn add(&self, key: Key) {
        self.0.add(key);
    }

    pub(crate) fn add_after(&self, key: Key, millis: u64) {
        self.0.add_after(key, Duration::from_millis(millis));
    }

    pub(crate) fn get(&self) -> Get<Key> {
        self.0.get()
    }

    /// Takes a key, if one is in line.
    pub(crate) fn take(&self) -> Ticket<Key> {
        crate::blocking::block_on(self.get()).expect("the queue is open")
    }

    /// Ends the work on the key and waits for another.
    pub(crate) fn next(ticket: Ticket<Key>) -> Get<Key> {
        ticket.next()
    }

    /// The adds that were not heeded: too late, or still delayed when the queue closed.
    pub(crate) fn lost(&self) -> usize {
        let drained = crate::blocking::block_on(self.drain());
        drained.refused + drained.dropped_delayed
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn shut_down(&self) {
        self.0.shut_down();
    }

    pub(crate) fn drain(&self) -> impl Future<Output = Drained> + Send + use<> {
        self.0.drain_without_deadline()
    }

    pub(crate) fn halt(&self) -> Drained {
        self.0.shut_down_now()
    }
}
