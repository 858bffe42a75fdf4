//! Session file → kubectl calls → differences.
//!
//! `session.console` is what a person types on an ordinary day and what kubectl answers,
//! the same on every provider. Its form:
//!
//! ```text
//! ## Sections become scenarios
//! # Comments are for the reader.
//! $ kubectl get namespace missing
//! ? 1
//! Error from server (NotFound): namespaces "missing" not found
//! ```
//!
//! `? N` is the exit code where it is not 0; then stdout and stderr follow as they are
//! expected. In a line `[..]` stands for anything, and `...` alone for any lines.
mod run;
mod session;

pub(super) use run::run;
