//! The worker pool: what becomes of keys, workers and log lines.

/// In a module of this name, because a test runner selects by the names of tests and not by
/// those of their files: `cargo test -p controller-core worker`.
#[path = "."]
mod worker {
    mod deadlines;
    mod layers;
    mod log;
    mod metrics;
    mod panics;
    mod requests;
    mod scripted;
    mod settle;
    mod shutdown;
    mod spans;
    mod unsettled;
}
