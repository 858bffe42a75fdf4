//! Flags → a running cluster, and its removal.
//!
//! [`Choice`] is what was asked for, and is checked before anything takes time. [`Prepared`]
//! has everything that takes minutes, and removes by *name* whatever of the run is there:
//! it does not matter how far a start came before it was interrupted. [`Provided`] is the
//! cluster that runs.
mod choice;
mod container;
mod existing;
mod kind;
mod kubeconfig;
mod prepared;
mod provided;
mod run_name;
mod warm_up;

pub(super) use choice::Choice;
pub(super) use prepared::Prepared;
pub(super) use provided::Provided;
