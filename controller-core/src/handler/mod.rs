//! [`Delta`](crate::store::Delta) → keys.
//!
//! Handlers enqueue, they never act. There are three ways to write one, as in client-go:
//! closures ([`HandlerFuncs`]), a filter around another one ([`FilteringHandler`]), and
//! the trait ([`EventHandler`]). [`EnqueueHandler`] is the one that most controllers use.
//!
//! # Why a stage of its own
//!
//! Here the *news* ends and the *key* begins. Behind this stage nobody knows what happened,
//! only what is to be looked at. That makes the rest simple: a key can be merged with an
//! equal one, delayed, retried and dropped at a restart, none of which an event survives.
//!
//! It is also the one place where one kind leads to another. A change of a Pod is a reason
//! to look at its ReplicaSet, and the code that knows this is a pure function from a
//! [`Delta`](crate::store::Delta) to keys.
//!
//! # Promises
//!
//! Each handler has a task and a bounded mailbox of its own, so that a slow
//! or panicking one harms no other. It hears per object in order. Handlers can be added
//! and removed at any time; a late one first hears of all that the cache holds, without a
//! gap and without a repetition. Only while a mailbox is full are its entries merged by
//! key, into the net change since what that handler last saw:
//!
//! | the handler last saw | there is now | it hears |
//! |---|---|---|
//! | nothing | an object | add |
//! | nothing | nothing | nothing |
//! | an object | the same object, changed | one update, from what it saw to what is |
//! | an object | the very same copy, and a resync was due | resync |
//! | an object | nothing | delete |
//! | an object | another object of that name, or the same one, which had left the selector | delete, then add |
//!
//! So even then the sequence that one handler hears of one object is always possible: no
//! delete without an add before it, no update from a state that it never saw.
//!
//! # Not promised
//!
//! - Order between two handlers, or between two objects once a mailbox was full.
//! - That every intermediate state is heard.
//! - That what is in the mailbox is delivered at the end. When the informer stops, the
//!   call under way is awaited; the rest is heard in its next run, if there is one.
//!
//! # Slow handlers
//!
//! One that takes a second for a call, or is five seconds behind, has one warning in the log,
//! with its [name](EventHandler::name), and one line when it has caught up.
//! [`Registration::pending`] and [`Registration::lag`] tell at any time how far behind it is;
//! so does [`SharedInformer::health`]. One that hangs keeps its own mailbox waiting and
//! nothing else, not even the end of the informer, which goes without it after
//! [`InformerOptions::STOP_WITHIN`]. In client-go a slow handler shows only as memory.
//!
//! [`Registration::pending`]: crate::informer::Registration::pending
//! [`Registration::lag`]: crate::informer::Registration::lag
//! [`SharedInformer::health`]: crate::informer::SharedInformer::health
//! [`InformerOptions::STOP_WITHIN`]: crate::informer::InformerOptions::STOP_WITHIN
//!
//! # Costs
//!
//! One task a handler while the informer runs. Up to [`InformerOptions::BUFFER`] entries of a few pointers each,
//! which hold the old and the new object in memory until they are heard; beyond that one
//! entry an object. A handler runs on a thread of the runtime: one that blocks for a
//! second takes that thread from every other task for a second.
//!
//! [`InformerOptions::BUFFER`]: crate::informer::InformerOptions::BUFFER
//!
//! # If you know client-go
//!
//! | client-go | here |
//! |---|---|
//! | `cache.ResourceEventHandler` | [`EventHandler`] |
//! | `OnAdd(obj, isInInitialList)` | [`EventHandler::on_add`] with `initial` |
//! | `OnUpdate(old, new)` with equal versions, a resync | [`EventHandler::on_resync`], of its own |
//! | `OnDelete(interface{})` | [`EventHandler::on_delete`] with a [`Deleted`](crate::store::Deleted) |
//! | `ResourceEventHandlerFuncs` | [`HandlerFuncs`] |
//! | `FilteringResourceEventHandler` | [`FilteringHandler`] |
//! | `processorListener`, its ring without bound | a bounded mailbox |
//! | controller-runtime's `handler.EnqueueRequestsFromMapFunc` | [`EnqueueHandler`] |
//!
//! # Testing against it
//!
//! A handler is an object with four methods. Call them; no informer is needed. See the
//! examples at [`FilteringHandler`] and [`EnqueueHandler`].
mod enqueue;
mod enqueue_handler;
mod event_handler;
mod filtering;
mod handler_funcs;
mod handler_name;
mod mailbox;
mod net_change;
mod pace;
mod processor;

pub use enqueue::{Band, Enqueue};
pub use enqueue_handler::EnqueueHandler;
pub use event_handler::EventHandler;
pub(crate) use event_handler::deliver;
pub use filtering::FilteringHandler;
pub use handler_funcs::HandlerFuncs;
pub(crate) use mailbox::{Letter, Mailbox};
pub(crate) use pace::{Episode, Pace, Turn};
pub(crate) use processor::Processor;
