use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::oneshot;

use crate::client::ApiError;
use crate::controllers::min_replicas::Raise;

/// What the server answered: the number that it has now.
pub(super) type Answer = Result<i32, ApiError>;

type Tell = dyn Fn(&Raise, i32) + Send + Sync;

/// Hears the answers of writes whose callers were dropped while they waited: the change
/// was made, so somebody has to be told of it.
#[derive(Clone)]
pub(super) struct Late {
    tell: Arc<Tell>,
    lost: Arc<AtomicUsize>,
}

/// A caller's wait for its answer. Dropped before it was heard, it leaves the answer to
/// [`Late`], whichever of the two comes first.
pub(super) struct Waiting {
    pub(super) raise: Raise,
    pub(super) answer: oneshot::Receiver<Answer>,
    pub(super) late: Late,
}

// === impl Late ===

impl Late {
    pub(super) fn new(tell: impl Fn(&Raise, i32) + Send + Sync + 'static) -> Self {
        Self {
            tell: Arc::new(tell),
            lost: Arc::default(),
        }
    }

    /// A refusal is nobody's news any more: nothing was written, and its key counts as
    /// not worked off.
    pub(super) fn hear(&self, raise: &Raise, answer: Answer) {
        match answer {
            Ok(replicas) => (self.tell)(raise, replicas),
            Err(error) if error.answer_lost() => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => {}
        }
    }

    /// How many writes ended without an answer, and without a caller to tell.
    pub(super) fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }
}

// === impl Waiting ===

impl Drop for Waiting {
    fn drop(&mut self) {
        // From here on the sender finds nobody and tells by itself.
        self.answer.close();
        if let Ok(answer) = self.answer.try_recv() {
            self.late.hear(&self.raise, answer);
        }
    }
}
