use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Unsynced;
use crate::client::ResourceType;
use crate::watch::ReflectorStatus;

/// The runs of a factory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Runs {
    /// One at a time, but the next may begin before the last is gone.
    pub(super) under_way: usize,
    /// How many there have been: the number of the latest.
    pub(super) begun: u64,
}

/// Which run of the factory the latest run of an informer belongs to. The informer may be in one
/// whose future was dropped while the next is under way already, and it may be run by hand.
#[derive(Debug, Default)]
pub(super) struct Begun(Mutex<Latest>);

#[derive(Debug, Default)]
struct Latest {
    /// The informer's run.
    run: u64,
    /// The factory's.
    by: u64,
}

/// Waits for the list of one informer, of the run that is under way or about to begin.
pub(super) struct Waiting {
    pub(super) resource: ResourceType,
    pub(super) status: watch::Receiver<ReflectorStatus>,
    /// Ends this informer for good.
    pub(super) stop: CancellationToken,
    pub(super) runs: watch::Receiver<Runs>,
    /// The number of that run of the factory. Later ones are as good.
    pub(super) from: u64,
    pub(super) begun: Arc<Begun>,
    /// The informer's own run that had ended before, whoever began it.
    pub(super) ended: Option<u64>,
    pub(super) has_listed: AtomicBool,
}

/// It stopped without a list, and nobody is about to start it.
pub(super) struct Stopped;

// === impl Runs ===

impl Runs {
    /// The number of the run that is under way, or of the one that is to come.
    pub(super) fn this_or_next(self) -> u64 {
        self.begun + u64::from(self.under_way == 0)
    }
}

// === impl Begun ===

impl Begun {
    /// The run `by` of the factory begins the run `run` of the informer.
    pub(super) fn note(&self, run: u64, by: u64) {
        *self.0.lock() = Latest { run, by };
    }

    /// Which run of the factory began this one. `None`: it was begun by hand.
    fn by(&self, run: u64) -> Option<u64> {
        let latest = self.0.lock();
        match run.cmp(&latest.run) {
            Ordering::Greater => None,
            Ordering::Equal => Some(latest.by),
            // It is over, and its successor about to be seen: before all that anybody waits for.
            Ordering::Less => Some(0),
        }
    }
}

// === impl Waiting ===

impl Waiting {
    pub(super) async fn listed(&self) -> Result<(), Stopped> {
        let (mut status, mut runs) = (self.status.clone(), self.runs.clone());
        // Stopped at first it tells of an earlier run: whoever waits is about to begin another.
        let mut has_run = false;
        loop {
            let runs_now = *runs.borrow_and_update();
            let is_listed = {
                let now = status.borrow_and_update();
                let is_stopped = now.ended().is_some();
                // Not the list of a run that is over, though it may still have to go.
                let is_this_run = self.is_this_run(&now);
                has_run |= runs_now.begun >= self.from || !is_stopped && is_this_run;
                let is_over = has_run && runs_now.under_way == 0;
                match now.listed_this_run && is_this_run {
                    // In line for its next run.
                    _ if is_stopped && !is_over => None,
                    false if is_stopped => Some(false),
                    false => None,
                    true => Some(true),
                }
            };
            match is_listed {
                Some(true) => {
                    self.has_listed.store(true, atomic::Ordering::Relaxed);
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

    /// Whether the informer's run is of the factory's run that is waited for. One that was begun
    /// by hand is, unless it had ended before.
    fn is_this_run(&self, now: &ReflectorStatus) -> bool {
        match self.begun.by(now.run) {
            Some(by) => by >= self.from,
            None => self.ended != Some(now.run),
        }
    }

    /// `None` if its list is there.
    pub(super) fn missing(&self) -> Option<Unsynced> {
        (!self.has_listed.load(atomic::Ordering::Relaxed)).then(|| Unsynced {
            resource: self.resource.clone(),
            error: self.status.borrow().error.clone(),
        })
    }
}
