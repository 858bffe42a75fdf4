//! No write of ours lowers replicas, whatever happens around it.
//!
//! `model` explores every interleaving of a small world (two controllers, stale caches, a
//! user, an autoscaler, a server that loses requests and answers) with the real plan and
//! the real decision after a refused write.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod model;
