//! [`Command`](crate::cli::Command) → an exit code: what each command does.
mod version;

pub use version::version;
