//! The calls of `WorkQueue` that concern the core.
use std::borrow::Cow;
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
        let hash = self.0.hash(&key);
        let (key, band) = (Cow::Owned(key), Some(Band::Live));
        self.0
            .update(|inner, clock| inner.state.add(hash, key, band, clock));
    }

    pub(crate) fn add_after(&self, key: Key, millis: u64) {
        let delay = Duration::from_millis(millis);
        let (hash, key, policy) = (self.0.hash(&key), Cow::Owned(key), Policy::Earliest);
        self.0
            .update(|inner, clock| inner.state.add_after(hash, key, delay, policy, clock));
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
