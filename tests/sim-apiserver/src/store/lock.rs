//! The store behind its lock.

use parking_lot::{RwLock, RwLockReadGuard};
use tokio::sync::watch;

use super::State;
use crate::kinds::KindId;

/// The state, shared. The lock is never held across an await.
#[derive(Debug)]
pub(crate) struct Store {
    state: RwLock<State>,
    changed: watch::Sender<u64>,
}

// === impl Store ===

impl Store {
    pub(crate) fn new(kinds: impl Iterator<Item = KindId>, history: usize) -> Self {
        let changed = watch::Sender::new(0);
        Self {
            state: RwLock::new(State::new(kinds, history, changed.clone())),
            changed,
        }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    /// Runs a change as one transaction: nobody sees its middle.
    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.write())
    }

    /// Wakes when anything changes; its value is the revision.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}
