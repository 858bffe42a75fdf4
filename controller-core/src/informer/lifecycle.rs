use tokio::sync::watch;

/// Whether an informer runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lifecycle {
    #[default]
    NeverRun,
    Running,
    /// Ran, and may run again.
    Stopped,
}

/// The one run that an informer may have at a time. Dropped, it is over.
pub(super) struct Running(watch::Sender<Lifecycle>);

// === impl Running ===

impl Running {
    /// `None` while another one lasts.
    pub(super) fn begin(lifecycle: &watch::Sender<Lifecycle>) -> Option<Self> {
        let begun = lifecycle.send_if_modified(|now| {
            let was = std::mem::replace(now, Lifecycle::Running);
            was != Lifecycle::Running
        });
        begun.then(|| Self(lifecycle.clone()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_replace(Lifecycle::Stopped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SI-15. In client-go an informer that has stopped is done for.
    #[test]
    fn there_is_one_run_at_a_time_and_any_number_in_a_row() {
        let lifecycle = watch::Sender::new(Lifecycle::default());
        for _ in 0..2 {
            assert_ne!(*lifecycle.borrow(), Lifecycle::Running);
            let running = Running::begin(&lifecycle);
            assert!(running.is_some());
            assert_eq!(*lifecycle.borrow(), Lifecycle::Running);
            assert!(Running::begin(&lifecycle).is_none());
            assert_eq!(*lifecycle.borrow(), Lifecycle::Running);
            drop(running);
            assert_eq!(*lifecycle.borrow(), Lifecycle::Stopped);
        }
    }
}
