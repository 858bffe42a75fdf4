//! min-replicas: what it decides, what it says, and what it writes.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod bed;
mod fixture;

/// In a module of this name, because a test runner selects by the names of tests and not by
/// those of their files: `cargo test -p controller-core min_replicas`.
#[path = "."]
mod min_replicas {
    mod cases;
    mod decision_properties;
    mod decisions;
    mod fights;
    mod guarded_writes;
    mod metrics;
    mod minimums;
    mod observing;
    mod projections;
    mod raise_min;
    mod refusals;
    mod sentences;
    mod targets;
    mod writer;
}
