//! [`WatchEvent`](crate::watch::WatchEvent) → cache + [`Delta`].
//!
//! One [`CacheWriter`], many [`Lister`]s. The writer applies an event under one lock and
//! says what changed, with the old and the new object; the cache shows the new state
//! before any handler hears of it.
//!
//! **Promises.** Every object that vanishes yields exactly one [`Deleted`]:
//! `Observed` when the watch said so, `FinalStateUnknown` when a relist no longer brought
//! it. Another uid under the same name is a `Deleted` and an `Added`. Within one history
//! of the server nothing goes back in time: an older copy is dropped and counted. What
//! cannot be read stops nothing: the last known copy stays and is marked.
//!
//! **Not promised.** Intermediate states may be skipped, and a deleted object's final
//! state may be unknown. An object that leaves a selector is `Deleted` though it lives.
mod delta;
mod index;
mod indexer;
mod lister;
mod writer;

pub use delta::{Deleted, Delta, Tombstone};
pub use index::IndexFunction;
pub use indexer::{CacheCounts, IndexExists, NAMESPACE_INDEX, UnknownIndex};
pub use lister::Lister;
pub use writer::{CacheWriter, cache};
