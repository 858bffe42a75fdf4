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
//! - When [`SharedInformer::run`] returns, no handler runs any more and none will.
//!
//! **Not promised:** that it ever syncs. It tries for ever, and
//! [`ReflectorStatus`](crate::watch::ReflectorStatus) says why it has not. Nor is an informer
//! good for a second run; make a new one.
//!
//! # Costs
//!
//! One watch, so one connection. One task for each handler; the reflector runs in the
//! future that [`SharedInformer::run`] returns. One lock that is held while a change is
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
//! | `AddEventHandler`, `AddEventHandlerWithResyncPeriod` | [`SharedInformer::add_handler`], [`add_handler_with_resync`](SharedInformer::add_handler_with_resync) |
//! | `ResourceEventHandlerRegistration` | [`Registration`] |
//! | `RemoveEventHandler`, `ShutDownEventHandler` | [`Registration::remove`] |
//! | `AddIndexers` | [`InformerOptions::index`], [`SharedInformer::add_index`] |
//! | `SetTransform` | [`InformerOptions::transform`], or better a projection: see [`Object`](crate::watch::Object) |
//! | `SetWatchErrorHandler`, `HasSynced` | [`SharedInformer::status`] |
//! | `cache.WaitForCacheSync` | [`Registration::synced`], [`SharedInformerFactory::synced`] |
//! | `KUBE_CACHE_MUTATION_DETECTOR` | nothing: an `Arc<T>` cannot be changed |
mod factory;
mod options;
mod registration;
mod shared;
mod transform;

pub use factory::SharedInformerFactory;
pub use options::InformerOptions;
pub use registration::Registration;
pub use shared::SharedInformer;
pub use transform::TransformError;
