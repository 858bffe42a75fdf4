//! Requests → objects and their history.
//!
//! One monotonic revision for all kinds, as etcd has. Objects are kept as encoded JSON; a list is put together
//! from those bytes. Every change is kept in its kind's history, bounded in number: watches read it at their
//! own pace, and what was at an earlier revision is found by undoing what came after: a page of a list shows the
//! state of its first page, a stale endpoint that of its revision, and a server can be restored to it.

mod history;
mod key_range;
mod listing;
mod lock;
mod object;
mod past;
mod restore;
mod state;

pub(crate) use history::Change;
pub(crate) use listing::{ListRequest, Listing, RevisionMatch};
pub(crate) use lock::Store;
pub(crate) use object::{Key, Object};
pub(crate) use past::AsOf;
pub use restore::RestoreError;
pub(crate) use state::{Life, State};
