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
mod options;
mod service;
mod update;

pub(crate) use create::create;
pub(crate) use delete::{DeleteOptions, Deleted, Propagation, delete};
pub(crate) use metadata::{check_shape, timestamp};
pub(crate) use options::WriteOptions;
pub(crate) use update::{Part, Target, UidRule, check_place, uid_conflict, update};
