//! A queue made of the parts of the core alone.
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::drain::{Drain, Drained};
use crate::get::Get;
use crate::handler::Band;
use crate::incoming::Incoming;
use crate::shared::Shared;
use crate::state::Policy;
use crate::ticket::Ticket;

pub(crate) type Key = u8;

#[derive(Clone)]
pub(crate) struct Queue(Arc<Shared<Key>>);

// === impl Queue ===

impl Queue {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared::new()))
    }

    pub(crate) fn add(&self, key: Key) {
        let hash = self.0.hash(&key);
        let (key, band) = (&mut Incoming::new(Cow::Owned(key)), Some(Band::Live));
        self.0
            .update(|inner, clock| inner.state.add(hash, key, band, clock));
    }

    pub(crate) fn add_after(&self, key: Key, millis: u64) {
        let delay = Duration::from_millis(millis);
        let (hash, policy) = (self.0.hash(&key), Policy::Earliest);
        let key = &mut Incoming::new(Cow::Owned(key));
        self.0
            .update(|inner, clock| inner.state.add_after(hash, key, delay, policy, clock));
    }

    pub(crate) fn get(&self) -> Get<Key> {
        Get::new(Arc::clone(&self.0))
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
        let progress = self.0.update(|inner, _| inner.state.progress());
        progress.refused + progress.dropped_delayed
    }

    pub(crate) fn len(&self) -> usize {
        self.0.update(|inner, _| inner.state.len())
    }

    pub(crate) fn shut_down(&self) {
        self.0.update(|inner, clock| {
            inner.state.release();
            inner.state.shut_down(clock);
        });
    }

    pub(crate) fn drain(&self) -> Drain<Key> {
        Drain::new(Arc::clone(&self.0))
    }

    pub(crate) fn halt(&self) -> Drained {
        self.0.update(|inner, clock| {
            inner.state.halt(clock);
            inner.state.progress().into()
        })
    }
}
