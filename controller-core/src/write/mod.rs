//! Plan → API. The only place, with leader election, that sends a mutating verb.
//!
//! **Promises.** Every write to an object that we did not create carries the uid and the
//! resourceVersion that were observed, so that the server refuses it if anything changed.
//! A request that was sent is awaited to its deadline: it runs in a task of its own, which
//! outlives the reconcile call that asked for it, and [`ScaleWriter::flush`] waits for it.
//! After [`ScaleWriter::close`] nothing more is sent.
//!
//! **Not promised.** That a write without an answer was not applied: whoever asked has to
//! look at the object.
mod scale;
mod scale_writer;

pub use scale_writer::{FIELD_MANAGER, ScaleWriter};
