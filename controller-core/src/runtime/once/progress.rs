/// How far a pass is, for whoever waits for it.
///
/// Only the latest counts: a watcher that looks seldom misses steps and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Deployments and what else decisions need are being read. How many there are is not
    /// known before all are.
    Reading {
        /// Read so far, of any kind.
        objects: usize,
    },
    /// Everything is decided, and what is due is being written.
    Writing {
        /// Those that are settled, whatever came of them.
        done: usize,
        /// Those of them that failed.
        failed: usize,
        /// Those that are due.
        total: usize,
    },
}

// === impl Progress ===

impl Default for Progress {
    fn default() -> Self {
        Self::Reading { objects: 0 }
    }
}
