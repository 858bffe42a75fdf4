use std::sync::atomic::{AtomicU64, Ordering};

/// What happened to a cache that nobody asked for; all counts only grow.
///
/// None of it stops anything, which is why it is counted: a number that grows steadily
/// points at something outside. `stale` at API servers that lag, `unreadable` at objects
/// that the type cannot be read from, `index_failures` at a bug in an index function.
#[derive(Debug, Default)]
pub struct CacheCounts {
    pub(super) stale: AtomicU64,
    pub(super) unreadable: AtomicU64,
    pub(super) index_failures: AtomicU64,
    pub(super) restored: AtomicU64,
}

// === impl CacheCounts ===

impl CacheCounts {
    /// Copies that were dropped because a newer one was already known.
    pub fn stale(&self) -> u64 {
        self.stale.load(Ordering::Relaxed)
    }

    /// List items and watch lines that could not be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// Calls of an index function that panicked.
    pub fn index_failures(&self) -> u64 {
        self.index_failures.load(Ordering::Relaxed)
    }

    /// How often the server's history had started anew: a list that named no version was of a
    /// lower one, or one that was not lower brought an object that was.
    pub fn restored(&self) -> u64 {
        self.restored.load(Ordering::Relaxed)
    }

    pub(super) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
