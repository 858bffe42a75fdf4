//! Cache → plan, by way of what a controller is for.
//!
//! A controller observes (the caches, or one live object), makes a **plan** with a pure
//! function (no client, no clock, no I/O), and then asks for the write that the plan
//! names. Two runs over the same observation decide alike, and everything that can be
//! decided can be tested as a table.
//!
//! [`min_replicas`] is one. An embedder's own controller stands beside it: it implements
//! [`Reconciler`](crate::worker::Reconciler) and owns the trait by which it writes.
//!
//! The dangerous mistake is to write what was planned without what it was planned from:
//! the cache is always a little old, so every write to an object that we did not create
//! carries its uid and resourceVersion.
pub mod min_replicas;
