//! No write of ours lowers replicas, whatever happens around it.
//!
//! `model` explores every interleaving of a small world with the real plan and the real
//! decision after a refusal. `seeds` runs the whole controller against the simulated
//! server, with trouble drawn from a seed.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod model;
mod seeds;
