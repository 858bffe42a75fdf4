use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use super::fate::Fate;

/// One look at one key, on its way through the layers to the reconciler.
///
/// Derefs to the key and is displayed as it, so that a layer or a reconciler that only wants
/// to know which object is meant need not care. A [`WorkerPool`](super::WorkerPool) makes one
/// for each call; who calls a service by hand makes one of a key:
///
/// ```
/// use controller_core::worker::ReconcileRequest;
///
/// let request = ReconcileRequest::new("shop/web");
/// assert_eq!(request.to_string(), "shop/web");
/// assert_eq!((request.attempt(), request.queued_for()), (1, None));
///
/// let third = request.with_attempt(3);
/// assert!(third.starts_with("shop/"), "the key's own methods");
/// ```
#[derive(Clone, Debug)]
pub struct ReconcileRequest<K> {
    key: K,
    attempt: u32,
    queued_for: Option<Duration>,
    cancelled: CancellationToken,
    fate: Fate,
}

// === impl ReconcileRequest ===

impl<K> ReconcileRequest<K> {
    /// A first attempt that came through no queue, and that nobody cancels.
    pub fn new(key: K) -> Self {
        Self {
            key,
            attempt: 1,
            queued_for: None,
            cancelled: CancellationToken::new(),
            fate: Fate::default(),
        }
    }

    /// The same, as the attempt of this number.
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// The same, after so long in line.
    pub fn with_queued_for(mut self, queued_for: impl Into<Option<Duration>>) -> Self {
        self.queued_for = queued_for.into();
        self
    }

    /// The same, cancelled by this token. A layer that may give a call up passes a
    /// [child](CancellationToken::child_token) of the token that it got.
    pub fn with_cancelled(mut self, cancelled: CancellationToken) -> Self {
        self.cancelled = cancelled;
        self
    }

    /// The same with a token of its own, a child of the one it had, and what fires that unless
    /// it is disarmed by an answer: also when the call is dropped.
    pub(super) fn cancelled_unless_answered(self) -> (Self, DropGuard) {
        let cancelled = self.cancelled.child_token();
        let unless_answered = cancelled.clone().drop_guard();
        (self.with_cancelled(cancelled), unless_answered)
    }

    /// Which object wants a look.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The key alone.
    pub fn into_key(self) -> K {
        self.key
    }

    /// Which try this is, from 1: one more than the failures that the queue's limiter counts
    /// for the key. A success begins anew, with or without a look asked for later, and so does
    /// a terminal error.
    ///
    /// A limiter that does not count, as [`Bucket`](crate::queue::Bucket), makes each the first.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How long the key was in line before a worker took it. A delay before that, such as the
    /// wait after a failure, does not count. `None` where the queue takes no
    /// [timestamps](crate::queue::Builder::timestamps).
    pub fn queued_for(&self) -> Option<Duration> {
        self.queued_for
    }

    /// Fires when the call is given up: its deadline passed, the queue was
    /// [halted](crate::queue::WorkQueue::halted), the pool was dropped, or it panicked. It
    /// does not fire when the call returns.
    ///
    /// The call itself need not listen, for it is dropped at the same moment. A task that it
    /// handed work to does, because it is not dropped with it:
    ///
    /// ```
    /// # use controller_core::worker::ReconcileRequest;
    /// # use tokio::task::JoinSet;
    /// # async fn render(key: String) {}
    /// fn hand_over(request: &ReconcileRequest<String>, tasks: &mut JoinSet<()>) {
    ///     let (key, cancelled) = (request.key().clone(), request.cancelled().clone());
    ///     tasks.spawn(async move {
    ///         cancelled.run_until_cancelled(render(key)).await;
    ///     });
    /// }
    /// ```
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    pub(super) fn fate(&self) -> &Fate {
        &self.fate
    }
}

impl<K> Deref for ReconcileRequest<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.key
    }
}

impl<K: fmt::Display> fmt::Display for ReconcileRequest<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}
