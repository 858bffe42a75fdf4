//! Joins [`watch`](crate::watch), [`store`](crate::store) and
//! [`handler`](crate::handler): one watch, one cache, many handlers.
//!
//! A [`SharedInformer`] is one kind; a [`SharedInformerFactory`] hands out one for each
//! kind and selection, so that two controllers in a process share a watch.
//!
//! ```text
//!                    ┌──► Lister ──► reconcilers, handlers, anyone
//! Reflector ──► CacheWriter
//!                    ├──► mailbox ──► task ──► handler 1 ──► queue A
//!                    └──► mailbox ──► task ──► handler 2 ──► queue B
//! ```
//!
//! # Promises
//!
//! - The cache shows a change before any handler hears of it.
//! - A handler that joins late hears of every object exactly once, then of every change.
//! - [`Registration::synced`] is about a handler, [`SharedInformer::has_synced`] about the
//!   cache. A controller that starts its workers after the first has the keys of all objects
//!   in its queue; after the second it has a full cache and perhaps an empty queue.
//! - When [`SharedInformer::run`] returns, no handler is called any more, but for a call that
//!   hangs, which the log names.
//! - It may be run again. Nothing that was told is told twice, nothing goes back in time, and
//!   what went during the pause is told as deleted.
//! - An informer that is never run has no task, and leaves nothing behind.
//!
//! **Not promised:** that it ever syncs. It tries for ever;
//! [`ReflectorStatus`](crate::watch::ReflectorStatus) says why it has not, and
//! [`SharedInformerFactory::synced`] which of several, at a deadline.
//!
//! # How is it doing?
//!
//! [`SharedInformer::health`] is one look at all of it: what the watch does and since when,
//! or why it waits; when the server last said something; up to which version; how many
//! objects, and how many that cannot be read; for each handler what it has not heard and for
//! how long. It is for probes, metrics and people: it prints itself as one line.
//!
//! ```text
//! deployments.apps: watching for 74s, 211 objects at 90145, last contact 14s ago, 0 restarts; enqueue has heard everything
//! ```
//!
//! # From the server to a handler
//!
//! Between decoder and cache an object may pass a [transform](InformerOptions::transform),
//! once. Each change is then put into the mailboxes of all handlers, under the lock under
//! which handlers join. Each handler's task calls it, one change after the other.
//!
//! # Costs
//!
//! One watch, so one connection. While it runs one task for each handler; the reflector runs
//! in the future that [`SharedInformer::run`] returns, and so does a look at every handler
//! once a second. One lock that is held while a change is
//! applied and put into the mailboxes. For a handler that joins late or resyncs it is held
//! once over all objects, a pointer copy each. Memory is that of the objects, see
//! [`store`](crate::store), and of what slow handlers have not heard, see
//! [`handler`](crate::handler).
//!
//! # If you know client-go
//!
//! | client-go | here |
//! |---|---|
//! | `cache.SharedIndexInformer` | [`SharedInformer`] |
//! | `informers.SharedInformerFactory` | [`SharedInformerFactory`] |
//! | `factory.Start` | [`SharedInformerFactory::run`], which also starts what is asked for later |
//! | `factory.WaitForCacheSync` | [`SharedInformerFactory::synced`], which names what is missing |
//! | `HasSynced` of a factory that was made anew after a stop | [`listed_this_run`](crate::watch::ReflectorStatus::listed_this_run), which [`SharedInformerFactory::synced`] waits for; [`SharedInformer::has_synced`] stays true |
//! | `IsStopped`: done for | [`SharedInformer::is_stopped`]: may run again |
//! | `AddEventHandler`, `AddEventHandlerWithResyncPeriod` | [`SharedInformer::add_handler`], [`add_handler_with_resync`](SharedInformer::add_handler_with_resync) |
//! | `ResourceEventHandlerRegistration` | [`Registration`] |
//! | `RemoveEventHandler`, `ShutDownEventHandler` | [`Registration::remove`] |
//! | `AddIndexers` | [`InformerOptions::index`], [`SharedInformer::add_index`] |
//! | `SetTransform` | [`InformerOptions::transform`], or better a projection: see [`Object`](crate::watch::Object) |
//! | `SetWatchErrorHandler`, `HasSynced` | [`SharedInformer::status`] |
//! | `cache.WaitForCacheSync` | [`Registration::synced`] |
//! | `KUBE_CACHE_MUTATION_DETECTOR` | nothing: an `Arc<T>` cannot be changed |
mod distributor;
mod factory;
mod health;
mod lifecycle;
mod options;
mod registration;
mod run;
mod shared;
mod slot;
mod transform;

pub use factory::{NotSynced, SharedInformerFactory, Unsynced, WhyNotSynced};
pub use health::{HandlerHealth, Health};
pub use options::InformerOptions;
pub use registration::Registration;
pub use shared::SharedInformer;
pub use transform::TransformError;
