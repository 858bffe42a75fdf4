//! [`Delta`](crate::store::Delta) → keys.
//!
//! Handlers enqueue, they never act. There are three ways to write one, as in client-go:
//! closures ([`HandlerFuncs`]), a filter around another one ([`FilteringHandler`]), and
//! the trait ([`EventHandler`]). [`EnqueueHandler`] is the one that most controllers use.
//!
//! **Promises.** Each handler has a task and a bounded mailbox of its own, so that a slow
//! or panicking one harms no other. It hears per object in order. Handlers can be added
//! and removed at any time; a late one first hears of all that the cache holds, without a
//! gap and without a repetition. Only while a mailbox is full are its entries merged by
//! key, into the net change since what that handler last saw.
mod enqueue;
mod enqueue_handler;
mod event_handler;
mod filtering;
mod mailbox;
mod processor;

pub use enqueue::{Band, Enqueue};
pub use enqueue_handler::EnqueueHandler;
pub(crate) use event_handler::deliver;
pub use event_handler::{EventHandler, HandlerFuncs};
pub use filtering::FilteringHandler;
pub(crate) use mailbox::{Letter, Mailbox};
pub(crate) use processor::Processor;
