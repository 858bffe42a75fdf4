//! [`WatchEvent`](crate::watch::WatchEvent) → cache + [`Delta`].
mod delta;

pub use delta::{Deleted, Delta, Tombstone};
