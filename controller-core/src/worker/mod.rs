//! [`Ticket`](crate::queue::Ticket) → a reconcile call.
mod reconciler;

pub use reconciler::{Outcome, ReconcileError, Reconciler};
