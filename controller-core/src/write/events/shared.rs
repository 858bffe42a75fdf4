use k8s_openapi::jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};
use uuid::Uuid;

use super::plan::{Correlator, Moment, Observed, SeriesKey, SpamLimit};

/// The rules under one lock, with a clock, and who is woken when there is something to send.
///
/// The lock is held for a few look-ups; once in six minutes for a walk over the series.
pub(super) struct Shared {
    born: Instant,
    plan: Mutex<Correlator>,
    wake: Notify,
}

// === impl Shared ===

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            born: Instant::now(),
            plan: Mutex::new(Correlator::new(SpamLimit::default(), Uuid::new_v4)),
            wake: Notify::new(),
        }
    }

    pub(super) fn plan(&self) -> MutexGuard<'_, Correlator> {
        self.plan.lock()
    }

    pub(super) fn now(&self) -> Moment {
        Moment {
            elapsed: self.born.elapsed(),
            time: Timestamp::now(),
        }
    }

    /// The point of tokio's clock that a plan means.
    pub(super) fn instant(&self, elapsed: Duration) -> Instant {
        self.born + elapsed
    }

    pub(super) fn record(&self, key: SeriesKey) {
        let observed = {
            let mut plan = self.plan.lock();
            // Read under the lock, so that no two events are in another order than their
            // times.
            let now = self.now();
            plan.observe(key, now)
        };
        match observed {
            Observed::Queued => self.wake.notify_one(),
            Observed::Counted => {}
            Observed::Dropped(reason) => tracing::trace!(%reason, "event dropped"),
        }
    }

    /// Closes the intake. What was recorded before is still sent, by whoever runs the writer.
    pub(super) fn close(&self) {
        self.plan.lock().close();
        self.wake.notify_one();
    }

    /// Waits until there may be something new to send.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}
