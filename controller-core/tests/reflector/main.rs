//! What a reflector asks for and what it tells, against a scripted server.
//!
//! The server answers each request with the next answer of a script, whatever was asked,
//! and records the request. Time is paused: waits cost nothing and are measured exactly.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod always_ready;
mod bookmarks;
mod circles;
mod first_lists;
mod hearing;
mod lists;
mod liveness;
mod log;
mod recovery;
mod script;
mod silence;
mod streaming;
mod watches;
