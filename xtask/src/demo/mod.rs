//! `cargo xtask demo`: a labelled Deployment goes from 1 replica to 2, without a cluster.
mod api;
mod narrator;
mod story;

pub(crate) use story::{Demo, run};
