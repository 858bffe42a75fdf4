use super::clock::Took;
use super::durations::Durations;

/// What happened so far, for metrics. Kept under the lock that is held anyway.
#[derive(Default)]
pub(super) struct Counts {
    /// Keys that came to wait for a worker; not the adds of keys that waited already.
    pub(super) adds: u64,
    /// Adds with a delay.
    pub(super) retries: u64,
    /// Adds that came too late.
    pub(super) refused: u64,
    pub(super) dropped_delayed: usize,
    /// None until somebody wants to know: then clocks are read.
    pub(super) times: Option<Box<Times>>,
}

/// How long keys wait, and how long they are in work.
#[derive(Default)]
pub(super) struct Times {
    pub(super) queue: Durations,
    pub(super) work: Durations,
}

// === impl Counts ===

impl Counts {
    #[inline]
    pub(super) fn waited(&mut self, took: Took) {
        if let (Some(times), Some(took)) = (&mut self.times, took.duration()) {
            times.queue.observe(took);
        }
    }

    #[inline]
    pub(super) fn worked(&mut self, took: Took) {
        if let (Some(times), Some(took)) = (&mut self.times, took.duration()) {
            times.work.observe(took);
        }
    }
}
