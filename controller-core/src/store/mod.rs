//! [`WatchEvent`](crate::watch::WatchEvent) → cache + [`Delta`].
//!
//! One [`CacheWriter`], many [`Lister`]s. The writer applies an event under one lock and
//! says what changed, with the old and the new object; the cache shows the new state
//! before any handler hears of it.
//!
//! # Promises
//!
//! Every object that vanishes yields exactly one [`Deleted`]:
//! `Observed` when the watch said so, `FinalStateUnknown` when a relist no longer brought
//! it. Another uid under the same name is a `Deleted` and an `Added`. Within one history
//! of the server nothing goes back in time: an older copy is dropped and counted. What
//! cannot be read stops nothing: the last known copy stays and is marked.
//!
//! | the watch or a list brings | the cache has | [`Delta`] |
//! |---|---|---|
//! | an object | nothing | `Added` |
//! | an object, newer | the same uid | `Updated`, with old and new |
//! | an object, the same version or an older one | the same uid | none |
//! | an object | another uid | `Deleted(FinalStateUnknown)`, then `Added` |
//! | its deletion | the same uid | `Deleted(Observed)`, with the last state |
//! | its deletion | another uid | `Deleted(FinalStateUnknown)` |
//! | its deletion | nothing | none |
//! | a whole list without it | any | `Deleted(FinalStateUnknown)` |
//! | an object, older, in a list that is not | any | as if it were newer, see below |
//! | something that cannot be read | any | none; what is there is marked as outdated |
//! | a deletion that cannot be read, but its key can | any | `Deleted(FinalStateUnknown)` |
//! | a list in which some item hid even its key | whatever the list did not bring | none; marked as outdated |
//!
//! A relist is applied in one step: no reader sees half of it. Its deletions are told
//! first.
//!
//! # A restored server
//!
//! An etcd that is restored from a backup tells another history. Two things show that: a list
//! that named no version answers below what was seen, and a list that is not below brings an
//! object that is, in whatever copy. The second is all that shows where the restore raised the
//! revision (`--bump-revision`). Either way the cache becomes what the list says, that is
//! counted ([`CacheCounts::restored`]) and warned of once, and who waits for a write of before
//! is told [`CaughtUp::Unknown`].
//!
//! # Not promised
//!
//! - Intermediate states may be skipped, and a deleted object's final state may be unknown.
//! - An object that leaves a selector is `Deleted` though it lives.
//! - Two reads are two moments. What [`Lister::list`] brought may be gone by the time that
//!   [`Lister::get`] asks for it. One moment is a [`Snapshot`].
//! - The cache lags behind the server, and behind your own writes: [`OwnWrites`] tells by how
//!   much, and waits.
//!
//! # Costs
//!
//! The memory of the objects, and for each a key (8 bytes, and one allocation of 56 while its
//! name is short), 30 bytes in the table, and as much again for each value of each index; the
//! text of a value once. A Deployment of min-replicas is 270 bytes in all. Objects are behind
//! an `Arc`: a reader that keeps one keeps it alive when the cache has moved on.
//!
//! A list adds 30 to 60 bytes an object while it is under way, beside what is new. An object
//! that has not changed is let go before the next is looked at, and the cache keeps the copy
//! that it had.
//!
//! One read-write lock. Readers hold it for a look-up, or for copying one pointer an object;
//! the writer for one object, or for all that a relist changed. Index functions run under
//! it. Nothing is awaited under it. No task runs here.
//!
//! # If you know client-go
//!
//! | client-go | here |
//! |---|---|
//! | `cache.ThreadSafeStore`, `cache.Indexer` | the cache between [`CacheWriter`] and [`Lister`] |
//! | `Add`, `Update`, `Delete`, `Replace` | [`CacheWriter::apply`], the only way in |
//! | typed listers, `cache.GenericLister` | [`Lister`] |
//! | `lister.Deployments(ns).List(selector)` | [`Lister::select`], with a [`SelectorOf`] that was checked beforehand |
//! | `LastStoreSyncResourceVersion` | [`Lister::resource_version`] |
//! | `cache.NewIntegerResourceVersionMutationCache` | [`OwnWrites`]: it waits for the cache and puts nothing over it |
//! | `DeltaFIFO`, `RealFIFO` | none: the writer has the old object at hand, and says so |
//! | `cache.DeletedFinalStateUnknown` | [`Tombstone`], in [`Deleted::FinalStateUnknown`] |
//! | `cache.IndexFunc`, `cache.Indexers` | [`IndexFunction`] |
//! | `cache.NamespaceIndex` | [`NAMESPACE_INDEX`], always there |
//!
//! # Testing against it
//!
//! [`cache()`] gives both ends. What a reconciler would see is written with a few
//! [`WatchEvent`](crate::watch::WatchEvent)s: see the example at [`CacheWriter`].
mod counts;
mod delta;
mod index;
mod indexer;
mod lister;
mod own_writes;
mod position;
mod quarantine;
mod select;
mod snapshot;
mod writer;

pub use counts::CacheCounts;
pub use delta::{Deleted, Delta, Tombstone};
pub use index::IndexFunction;
pub use indexer::{IndexExists, NAMESPACE_INDEX, UnknownIndex};
pub use lister::Lister;
pub use own_writes::OwnWrites;
pub use position::CaughtUp;
pub use quarantine::Quarantined;
pub use select::{LabelNotKept, SelectorOf};
pub use snapshot::Snapshot;
pub use writer::{CacheWriter, cache};
