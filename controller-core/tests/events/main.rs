//! The event recorder over a simulated server: what arrives there, and when.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod bed;

mod answers;
mod load;
mod log;
mod shutdown;
mod writing;
