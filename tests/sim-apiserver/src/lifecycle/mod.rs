//! A write → changes in the store.
//!
//! Everything that the real server does between a decoded body and etcd: system fields, defaults, validation,
//! preconditions, generation, managed fields, finalizers; and what its garbage collector and its namespace
//! controller do after a deletion. The last two run at once, in the same transaction: a client sees the same
//! events in the same order, only sooner.

mod create;
mod delete;
mod garbage;
mod managed_fields;
mod metadata;
mod update;

pub(crate) use create::create;
pub(crate) use delete::{DeleteOptions, Deleted, Propagation, delete};
pub(crate) use metadata::{check_shape, timestamp};
pub(crate) use update::{Part, Target, UidRule, uid_conflict, update};

/// Options that every write has.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    /// Do everything but store.
    pub(crate) dry_run: bool,
    /// Who writes, for `managedFields`.
    pub(crate) manager: String,
    /// In which version, for `managedFields`.
    pub(crate) api_version: String,
}
