//! Wires the stages: one function for a loop, one for a single pass.
//!
//! [`run`] is the whole system in one page: which stage feeds which, what is waited for
//! before the first decision, and in which order everything ends. [`once`] uses the same
//! plan and the same writes without a watch.
//!
//! **Shutdown.** When the token is cancelled the intake closes, the keys in line are
//! worked off until the grace period ends, delayed keys are dropped and counted, writes
//! under way are awaited, and the watches close last, so that the caches are fresh to the
//! end. A second signal is the binary's business: it ends the process.
mod error;
mod informers;
mod once;
mod options;
mod run;
mod selection;

pub use error::NotSynced;
pub use once::once;
pub use options::{OnceOptions, OnceReport, RunOptions, RunSummary, Targets};
pub use run::run;
