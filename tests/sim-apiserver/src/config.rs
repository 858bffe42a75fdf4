//! What the builder sets.

use std::time::Duration;

/// How the server behaves; every field has the real server's default unless it says otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) watch: WatchConfig,
    /// How many changes of each kind are kept.
    pub(crate) history: usize,
    /// How many requests are remembered, at least; the oldest go first.
    pub(crate) recorded: usize,
    pub(crate) workload: Option<WorkloadConfig>,
}

/// How watches behave.
#[derive(Clone, Debug)]
pub(crate) struct WatchConfig {
    pub(crate) bookmark_interval: Duration,
    /// How long a watch without `timeoutSeconds` stays open.
    pub(crate) default_timeout: Duration,
    /// How many changes a watch may lag behind before it is closed.
    pub(crate) buffer: u64,
    pub(crate) streaming_lists: StreamingLists,
}

/// What becomes of `sendInitialEvents`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamingLists {
    Served,
    /// With 422.
    Refused,
    /// As if it were not there, and `resourceVersionMatch` of a watch neither.
    Ignored,
}

/// How the stand-in for the workload controllers behaves.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadConfig {
    /// How long a Pod takes to become Ready.
    pub(crate) pod_ready_after: Duration,
}

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self {
            watch: WatchConfig::default(),
            history: 32_768,
            recorded: usize::MAX,
            workload: None,
        }
    }
}

// === impl WatchConfig ===

impl Default for WatchConfig {
    fn default() -> Self {
        Self {
            bookmark_interval: Duration::from_secs(60),
            // The real one picks between 30 and 60 minutes.
            default_timeout: Duration::from_secs(45 * 60),
            buffer: 16_384,
            streaming_lists: StreamingLists::Served,
        }
    }
}

// === impl WorkloadConfig ===

impl Default for WorkloadConfig {
    fn default() -> Self {
        Self {
            pod_ready_after: Duration::from_millis(5),
        }
    }
}
