//! The cases of the race of the queues.
//!
//! Settings are the defaults: `WorkQueue::new`, an `ObjectKey` as key, and the plain calls
//! `add`, `add_after`, `get` and the drop of the ticket.
mod case;
mod contended;
mod delayed;
mod error;
mod filled;
mod keys;
mod memory;
mod tally;

pub(crate) use case::run;
