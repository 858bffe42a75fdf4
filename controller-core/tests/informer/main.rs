//! Shared informers over HTTP against the simulated server.
//!
//! No sockets, one thread, paused time.

mod bed;
mod health;
mod restart;
mod transforms;
