//! Requests → objects and their history.
//!
//! One monotonic revision for all kinds, as etcd has. Objects are kept as encoded JSON; a list is put together
//! from those bytes. Every change is kept in its kind's history, bounded in number: watches read it at their
//! own pace, and a page of a list is answered from the state at its first page's revision by undoing it.

mod history;
mod listing;
mod lock;
mod object;
mod state;

pub(crate) use history::Change;
pub(crate) use listing::{ListRequest, Listing, RevisionMatch};
pub(crate) use lock::Store;
pub(crate) use object::{Key, Object};
pub(crate) use state::State;
