//! `cargo xtask sim`: a simulated API server in a process of its own, for kubectl.
mod fill;
mod run;

pub(crate) use run::{Sim, run};
