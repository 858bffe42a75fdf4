use super::verdict::Verdict;

/// Hears of every verdict, as soon as it is reached.
///
/// Called from worker tasks, several at once, so it must be quick and must not block: it may
/// count, log, or hand the verdict on. The same verdict comes again each time it is
/// confirmed, by a resync for example; [`DecisionLog`](super::DecisionLog) is one that tells
/// only changes.
///
/// ```
/// use controller_core::controllers::min_replicas::{Effect, Reporter, Verdict};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[derive(Default)]
/// struct Raises(AtomicU64);
///
/// impl Reporter for Raises {
///     fn report(&self, verdict: &Verdict) {
///         if let Effect::Raised { .. } = verdict.effect {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
/// ```
///
/// What is *not* reported: a decision that is waiting after a failure, and one of a server
/// dry run that was judged before. Nothing was tried then, and nothing is new.
pub trait Reporter: Send + Sync + 'static {
    /// Takes note of one verdict.
    fn report(&self, verdict: &Verdict);
}

// === impl Reporter ===

/// Tells each of them, in this order.
impl<R: Reporter> Reporter for Vec<R> {
    fn report(&self, verdict: &Verdict) {
        for reporter in self {
            reporter.report(verdict);
        }
    }
}

impl<R: Reporter + ?Sized> Reporter for std::sync::Arc<R> {
    fn report(&self, verdict: &Verdict) {
        (**self).report(verdict);
    }
}
