//! What went wrong → what a person reads ([`Report`]), and what a script reads ([`Exit`]).
//!
//! Every text has the same shape: one line that can be searched for, worded as kubectl
//! words it; a blank line; hints with commands that exist.
mod access;
mod api;
mod config;
mod exit;
mod namespace;
mod not_synced;
mod place;
mod report;
mod suggest;
mod tls;

pub(crate) use access::{grant, missing_rule};
pub use api::explain;
pub use config::explain_config;
pub use exit::{BUG, Exit};
pub use namespace::namespace_not_found;
pub use not_synced::explain_not_synced;
pub use place::Place;
pub use report::Report;
pub(crate) use report::from_server;
pub use suggest::did_you_mean;
