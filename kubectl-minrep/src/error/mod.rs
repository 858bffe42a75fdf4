//! What went wrong → what a person reads, and the exit code that a script reads.
mod exit;

pub use exit::{BUG, Exit};
