//! The work queue, through its public face. The rules themselves are held against a
//! model in `src/queue/tests`, the races in `tests/loom_queue`.

/// In a module of this name, because a test runner selects by the names of tests and not by
/// those of their files: `cargo test -p controller-core queue`.
#[path = "."]
mod queue {
    mod bands;
    mod basics;
    mod broken_keys;
    mod bucket;
    mod delays;
    mod jitter;
    mod limiters;
    mod metrics;
    mod refused_limiters;
    mod shutdown;
    mod timestamps;
    mod views;
    mod wakes;
}
