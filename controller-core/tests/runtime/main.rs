//! The whole system against the simulated server: from a line of a watch to a patch.
//!
//! No sockets, one thread, paused time. `follow_event.rs` is the one to read first.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod budget;
mod cases;
mod changes;
mod deadline;
mod events;
mod fights;
mod first_lists;
mod follow_event;
mod harness;
mod installed_later;
mod namespaces;
mod once;
mod refusals;
mod retries;
mod run;
mod scaled_objects;
mod shutdown;
mod states;
mod timeouts;
