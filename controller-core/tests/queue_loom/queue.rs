//! The calls of `WorkQueue` that concern the core.
use std::sync::Arc;
use std::time::Duration;

use crate::drain::{Drain, Drained};
use crate::get::Get;
use crate::handler::Band;
use crate::shared::Shared;
use crate::state::Policy;

pub(crate) type Key = u8;

#[derive(Clone)]
pub(crate) struct Queue(Arc<Shared<Key>>);

/// Runs a model with up to `preemptions` switches away from a thread that could go on.
/// Three are plenty for two or three threads; a further one or a further thread
/// multiplies the time by ten.
pub(crate) fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        body();
        crate::sync::reset();
    });
}

// === impl Queue ===

impl Queue {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared::new()))
    }

    pub(crate) fn add(&self, key: Key) {
        self.0.update(|inner, _| inner.state.add(key, Band::Live));
    }

    pub(crate) fn add_after(&self, key: Key, millis: u64) {
        let delay = Duration::from_millis(millis);
        self.0
            .update(|inner, now| inner.state.add_after(key, delay, Policy::Earliest, now));
    }

    pub(crate) fn get(&self) -> Get<Key> {
        Get::new(Arc::clone(&self.0))
    }

    /// Takes a key, if one is in line.
    pub(crate) fn take(&self) -> crate::ticket::Ticket<Key> {
        loom::future::block_on(self.get()).expect("the queue is open")
    }

    pub(crate) fn len(&self) -> usize {
        self.0.update(|inner, _| inner.state.len())
    }

    pub(crate) fn shut_down(&self) {
        self.0.update(|inner, _| {
            inner.state.shut_down();
            inner.state.release();
        });
    }

    pub(crate) fn drain(&self) -> Drain<Key> {
        Drain::new(Arc::clone(&self.0))
    }

    pub(crate) fn halt(&self) -> Drained {
        self.0.update(|inner, _| {
            inner.state.halt();
            inner.state.progress().into()
        })
    }
}
