//! `cargo xtask e2e`: the plugin on a Kubernetes API server, through kubectl.
//!
//! Every wait is for a condition and has a bound. That nothing happens is shown by what
//! happened later: the controller has decided about the object, and has raised another
//! one that was applied after it, and the object's generation has not moved.
mod cluster;
mod corners;
mod cut;
mod everyday;
mod flags;
mod manifest;
mod need;
mod once;
mod provider;
mod report;
mod rules;
mod run;
mod scale;
mod scenarios;
mod shutdown;
mod world;

pub(crate) use flags::E2e;
pub(crate) use run::run;
