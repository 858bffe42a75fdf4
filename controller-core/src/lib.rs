//! A Kubernetes controller toolkit: the pattern that client-go teaches, in Rust.
//!
//! One folder is one stage of the path that an event takes, in this order:
//!
//! | # | module | in → out |
//! |---|---|---|
//! | 0 | [`client`] | kubeconfig, service account → [`kube::Client`] |
//! | 1 | [`watch`] | HTTP → [`watch::WatchEvent`] |
//! | 2 | [`store`] | `WatchEvent` → cache + [`store::Delta`] |
//! | 3 | [`handler`] | `Delta` → keys |
//! | 4 | [`queue`] | keys → [`queue::Ticket`] |
//! | 5 | [`worker`] | `Ticket` → a reconcile call |
//! | 6 | [`controllers`] | cache → plan |
//! | 7 | [`write`](mod@write) | plan → API |
//!
//! [`informer`] joins stages 1 to 3, [`runtime`] wires everything.

pub mod client;
pub mod controllers;
pub mod handler;
pub mod informer;
pub mod queue;
pub mod runtime;
pub mod store;
pub mod watch;
pub mod worker;
pub mod write;

// The repository's README is an example like any other: it has to compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
