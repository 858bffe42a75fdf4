//! Cached Deployments, autoscalers and Namespaces → [`Plan`].
//!
//! Keeps Deployments that opted in at a minimum number of replicas. Three steps, always
//! in this order: **observe** (the caches, or the live object), **[`plan`]** (pure), then
//! **write** through [`WriteScale`], guarded by what was observed.
//!
//! # The rule
//!
//! A Deployment that carries the opt-in label with exactly the opt-in value, and has fewer
//! than [`Settings::min`] replicas (or those that its annotation [`MIN`] names), is scaled to
//! that minimum. At or above it nothing is written. It only ever raises.
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
//! | – | *raise the minimum of its autoscaler*, if that is asked for | it decides its replicas from now on |
//! | 6 | satisfied | there is nothing to do |
//! | 7 | autoscaled | its replicas are the autoscaler's |
//! | 8 | fight | it was raised three times within 10 minutes, and did not stay up |
//! | 9 | budget | as many were raised within a minute as may be |
//! | – | *raise* | |
//!
//! Fight and budget hold back a raise of an autoscaler's minimum as well. Both are values
//! that the plan is given; the clock that they stem from is not its business.
//!
//! # The write
//!
//! One merge patch with the observed uid and resourceVersion: of the `scale` subresource, or,
//! with [`HpaPolicy::RaiseMin`], of the autoscaler. A 409 says that the object has changed: it
//! is read live and planned again, at most three times in a row. Any other refusal, or a lost answer, is looked into as well: was it
//! changed, is the number there already, or did the server mean what it said? Only in the
//! last case is its message what the user sees. A 200 with another number than was asked for
//! is a failure too ([`Failure::Kept`]): some webhook decides otherwise.
//!
//! # What no guard covers
//!
//! The server compares the one object that is written. A decision rests on others too, and of
//! those a cache may be behind by the time that an event takes:
//!
//! | may have happened | what is done about it | what is left |
//! |---|---|---|
//! | an autoscaler or ScaledObject came to a Deployment, or took the place of another | where ours proves to be gone at the write, all of the namespace are read live | one raise of the Deployment, if the event comes after it |
//! | a Namespace was paused | one that the cache does not have is read live | raises within the lag |
//! | the Deployment opted out, before its *autoscaler* is written | it is read live just before | a change between that GET and the PATCH |
//!
//! None of these lowers anything, and none repeats: the event comes and the next decision
//! knows. A Deployment itself is always guarded: there an opt-out, a deletion or a scaling that
//! nobody has heard of refuses the write.
//!
//! # What slows it down
//!
//! A decision that failed waits before it is tried again, 100 ms doubling to 5 min unless it
//! is [told otherwise](MinReplicas::retry_delays), also when an event wakes its key meanwhile.
//! A server that undoes each write causes an event with each write, and would otherwise be asked without end.
//!
//! Whoever lowers what we raise is fought, and nobody wins a fight. So from the third raise
//! within 10 minutes on the next ones wait 1 minute, 2, 4, and so on up to an hour, until 2
//! hours have passed without one: at most 31 writes a day against somebody who lowers at
//! once, for ever. Raises whose answers were lost, or which the server did not honour, count;
//! refused ones do not, unless it was a 5xx and the live object has changed, or cannot be
//! read: then it may have been stored.
//!
//! And a loop can have a [budget](MinReplicas::max_raises_per_minute), for the day on which
//! somebody labels everything by mistake. A single pass has none of these.
//!
//! # What wakes it
//!
//! | a change of | wakes |
//! |---|---|
//! | a Deployment | itself |
//! | a HorizontalPodAutoscaler's target, bounds or owner | the Deployments that it targets and targeted |
//! | a ScaledObject's target | the same |
//! | a Namespace's pause | the Deployments in it |
//! | the resync | all Deployments, in the background band |
//!
//! # Parts for your own program
//!
//! [`runtime::run`](crate::runtime::run) wires all of this. [`MinReplicas`] is the
//! [`Reconciler`](crate::worker::Reconciler) alone, for a pool of your own, and [`plan()`]
//! the decision alone, for whoever wants to show it. What a program prints or counts comes
//! through a [`Reporter`]: [`DecisionLog`] and [`Metrics`] are two, [`Occasions`] finds what is
//! worth an Event, and a list of reporters is a reporter too.
mod after_write;
mod attempts;
mod autoscaled;
mod autoscaler;
mod before_write;
mod budget;
mod decision_log;
mod deployment;
mod failure;
mod failure_log;
mod fight;
mod labels;
mod metadata;
mod metrics;
mod minimum;
mod namespace;
mod observe;
mod occasion;
mod opponent;
mod pacing;
mod plan;
mod raise;
mod reason;
mod reconciler;
mod reporter;
mod scale_target;
mod scaled_object;
mod settings;
mod targets;
mod trying;
mod verdict;
mod write_loop;
mod write_scale;

pub use after_write::{Live, MAX_REPLANS, Next, Refusal, after_refusal};
pub use autoscaled::{Hindrance, ScaledBy};
pub use autoscaler::HorizontalPodAutoscaler;
pub use budget::Turn;
pub use decision_log::{DecisionLog, Tally};
pub use deployment::{Deployment, KEEP_ZERO, Owner};
pub use failure::Failure;
pub use fight::Hold;
pub use labels::Labels;
pub use metrics::{Counting, Metrics};
pub use minimum::{MIN, Minimum, RejectedMin, minimum};
pub use namespace::{Namespace, PAUSED};
pub use occasion::{Occasion, Occasions, occasion};
pub use opponent::Opponent;
pub use plan::{Observed, Plan, plan};
pub use raise::{Raise, Through};
pub use reason::{Class, Reason, ZeroKeptBy};
pub use reconciler::{Caches, Due, Look, MinReplicas};
pub use reporter::Reporter;
pub use scale_target::OddApiVersion;
pub use scaled_object::ScaledObject;
pub use settings::{DryRun, HpaPolicy, OptIn, OptInError, SYSTEM_NAMESPACES, Settings, ZeroPolicy};
pub use targets::{
    TARGET_INDEX, deployments_of, deployments_of_scaled_object, namespace_of, scaled_object_index,
    target_index,
};
pub use verdict::{Effect, Verdict};
pub use write_scale::{FIELD_MANAGER, WriteError, WriteScale};
