use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::call_error::{CallError, caught};
use super::reconciler::ReconcileError;

/// How the last call for a request was given up, noted by the layer that did so.
///
/// The error that the layer returns says it too. But a layer further out may put another in
/// its place, and what is counted and told must not depend on that.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate(Arc<AtomicU8>);

/// Why a call has no answer of the reconciler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    Panicked = 1,
    DeadlineExceeded,
}

// === impl Fate ===

impl Fate {
    /// A call begins. The same request may be called again, by a layer that retries.
    pub(super) fn begin(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(super) fn note(&self, why: GivenUp) {
        self.0.store(why as u8, Ordering::Relaxed);
    }

    /// Why the call that ended with `error` was given up, `None` if it was not. A layer that
    /// made a request of its own has left the error only, whose words may panic.
    pub(super) fn of(&self, error: &ReconcileError) -> Option<GivenUp> {
        match self.0.load(Ordering::Relaxed) {
            1 => Some(GivenUp::Panicked),
            2 => Some(GivenUp::DeadlineExceeded),
            _ => caught(|| CallError::of(error).map(GivenUp::from))
                .ok()
                .flatten(),
        }
    }
}

// === impl GivenUp ===

impl From<&CallError> for GivenUp {
    fn from(error: &CallError) -> Self {
        match error {
            CallError::Panicked(_) => Self::Panicked,
            CallError::DeadlineExceeded(_) => Self::DeadlineExceeded,
        }
    }
}
