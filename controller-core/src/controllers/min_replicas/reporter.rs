use super::verdict::Verdict;

/// Hears of every verdict, as soon as it is reached.
///
/// Called from worker tasks, so it must be quick and must not block: it may count, log,
/// or hand the verdict on. The same verdict comes again each time it is confirmed.
pub trait Reporter: Send + Sync + 'static {
    /// Takes note of one verdict.
    fn report(&self, verdict: &Verdict);
}

// === impl Reporter ===

impl<R: Reporter + ?Sized> Reporter for std::sync::Arc<R> {
    fn report(&self, verdict: &Verdict) {
        (**self).report(verdict);
    }
}
