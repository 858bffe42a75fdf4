//! `cargo xtask conformance`: controller-core's cache on a real Kubernetes API server.
//!
//! The tests are those of `controller-core/tests/conformance` below a module `both`. Each
//! stands behind a fault proxy of its own before one control plane of etcd and
//! kube-apiserver, once with streaming lists and once without.
mod run;
mod table;

pub(crate) use run::run;
