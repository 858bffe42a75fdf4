//! Shared informers over HTTP against the simulated server.
//!
//! No sockets, one thread, paused time.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod bed;
mod health;
mod restart;
mod transforms;
