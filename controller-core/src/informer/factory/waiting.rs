use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Unsynced;
use crate::client::ResourceType;
use crate::watch::{ReflectorStatus, State};

/// Waits for the list of one informer, of the run that is under way or about to begin.
pub(super) struct Waiting {
    pub(super) resource: ResourceType,
    pub(super) status: watch::Receiver<ReflectorStatus>,
    /// Ends this informer for good.
    pub(super) stop: CancellationToken,
    /// How many runs of the factory are under way.
    pub(super) runs: watch::Receiver<usize>,
    pub(super) has_listed: AtomicBool,
}

/// It stopped without a list, and nobody is about to start it.
pub(super) struct Stopped;

// === impl Waiting ===

impl Waiting {
    pub(super) async fn listed(&self) -> Result<(), Stopped> {
        let (mut status, mut runs) = (self.status.clone(), self.runs.clone());
        // Stopped at first it tells of an earlier run: whoever waits is about to begin another.
        let mut has_run = false;
        loop {
            let is_run = *runs.borrow_and_update() > 0;
            let is_listed = {
                let now = status.borrow_and_update();
                let is_stopped = matches!(now.state, State::Stopped);
                has_run |= is_run || !is_stopped;
                let is_over = has_run && !is_run;
                match now.listed_this_run {
                    // In line for its next run.
                    _ if is_stopped && !is_over => None,
                    false if is_stopped => Some(false),
                    false => None,
                    true => Some(true),
                }
            };
            match is_listed {
                Some(true) => {
                    self.has_listed.store(true, Ordering::Relaxed);
                    return Ok(());
                }
                Some(false) => return Err(Stopped),
                None => {}
            }
            // The senders are the informer's and the factory's; without one of them nothing
            // will be listed.
            tokio::select! {
                changed = status.changed() => changed.map_err(|_| Stopped)?,
                changed = runs.changed() => changed.map_err(|_| Stopped)?,
                () = self.stop.cancelled() => return Err(Stopped),
            }
        }
    }

    /// `None` if its list is there.
    pub(super) fn missing(&self) -> Option<Unsynced> {
        (!self.has_listed.load(Ordering::Relaxed)).then(|| Unsynced {
            resource: self.resource.clone(),
            error: self.status.borrow().error.clone(),
        })
    }
}
