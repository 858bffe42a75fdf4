use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

/// What changes with every event: too often to wake those who wait for a change of state.
#[derive(Debug)]
pub(super) struct Pulse {
    start: Instant,
    /// Milliseconds from the start to the last word of the server, and one more. 0 is none.
    last_contact: AtomicU64,
    resource_version: Mutex<Option<Arc<str>>>,
}

// === impl Pulse ===

impl Pulse {
    pub(super) fn beat(&self) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        // Nothing else is read by it.
        self.last_contact.store(millis + 1, Ordering::Relaxed);
    }

    pub(super) fn last_contact(&self) -> Option<Instant> {
        let millis = self.last_contact.load(Ordering::Relaxed).checked_sub(1)?;
        self.start.checked_add(Duration::from_millis(millis))
    }

    pub(super) fn at(&self, version: Option<Arc<str>>) {
        *self.resource_version.lock() = version;
    }

    pub(super) fn resource_version(&self) -> Option<Arc<str>> {
        self.resource_version.lock().clone()
    }
}

impl Default for Pulse {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            last_contact: AtomicU64::new(0),
            resource_version: Mutex::new(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_last_contact_is_told_to_the_millisecond() {
        let pulse = Pulse::default();
        assert_eq!(pulse.last_contact(), None);
        let start = Instant::now();
        pulse.beat();
        assert_eq!(pulse.last_contact(), Some(start));
        tokio::time::advance(Duration::from_millis(1234)).await;
        pulse.beat();
        assert_eq!(pulse.last_contact(), Some(Instant::now()));
    }
}
