//! Cached Deployments, HorizontalPodAutoscalers and Namespaces → [`Plan`].
//!
//! Keeps Deployments that opted in at a minimum number of replicas. Three steps, always
//! in this order: **observe** (the caches, or the live object), **[`plan`]** (pure), then
//! **write** through [`WriteScale`], guarded by what was observed.
//!
//! # The rule
//!
//! A Deployment that carries the opt-in label with exactly the opt-in value, and has fewer
//! than [`Settings::min`] replicas, is scaled to that minimum. At or above it nothing is
//! written. It only ever raises.
//!
//! What stands in the way, in the order in which it is asked; the first that holds is the
//! [`Reason`] that is reported:
//!
//! | # | reason | because |
//! |---|---|---|
//! | 1 | being deleted | new Pods would only be deleted with it |
//! | 2 | not opted in, or not selected | nobody asked |
//! | 3 | its namespace is paused or excluded | somebody asked not to |
//! | 4 | owned | its controller would scale it back: a fight |
//! | 5 | zero kept | it was parked on purpose |
//! | 6 | satisfied | there is nothing to do |
//! | 7 | autoscaled | its replicas are the autoscaler's |
//! | – | raise | |
//!
//! # The write
//!
//! One merge patch of the `scale` subresource with the observed uid and resourceVersion.
//! A 409 says that the object has changed: it is read live and planned again, at most three
//! times in a row. Any other refusal, or a lost answer, is looked into as well: was it
//! changed, is the number there already, or did the server mean what it said? Only in the
//! last case is its message what the user sees. A 200 with another number than was asked for
//! is a failure too ([`Failure::Kept`]): some webhook decides otherwise.
//!
//! A decision that failed waits before it is tried again, 100 ms doubling to 5 min, also
//! when an event wakes its key meanwhile. A server that undoes each write causes an event
//! with each write, and would otherwise be asked without end.
//!
//! # What wakes it
//!
//! | a change of | wakes |
//! |---|---|
//! | a Deployment | itself |
//! | a HorizontalPodAutoscaler's target or bounds | the Deployments that it targets and targeted |
//! | a Namespace's pause | the Deployments in it |
//! | the resync | all Deployments, in the background band |
//!
//! # Parts for your own program
//!
//! [`runtime::run`](crate::runtime::run) wires all of this. [`MinReplicas`] is the
//! [`Reconciler`](crate::worker::Reconciler) alone, for a pool of your own, and [`plan()`]
//! the decision alone, for whoever wants to show it. What a program prints or counts comes
//! through a [`Reporter`].
mod after_write;
mod attempts;
mod autoscaler;
mod decision_log;
mod deployment;
mod failure;
mod failure_log;
mod metadata;
mod namespace;
mod plan;
mod raise;
mod reason;
mod reconciler;
mod reporter;
mod settings;
mod targets;
mod verdict;
mod write_loop;
mod write_scale;

pub use autoscaler::{HorizontalPodAutoscaler, OddApiVersion};
pub use decision_log::{DecisionLog, Tally};
pub use deployment::{Deployment, KEEP_ZERO, Owner};
pub use failure::Failure;
pub use namespace::{Namespace, PAUSED};
pub use plan::{Observed, Plan, plan};
pub use raise::Raise;
pub use reason::{Class, Reason, ZeroKeptBy};
pub use reconciler::{Caches, MinReplicas};
pub use reporter::Reporter;
pub use settings::{DryRun, HpaPolicy, OptIn, OptInError, SYSTEM_NAMESPACES, Settings, ZeroPolicy};
pub use targets::{TARGET_INDEX, deployments_of, namespace_of, target_index};
pub use verdict::{Effect, Verdict};
pub use write_scale::{WriteError, WriteScale};
