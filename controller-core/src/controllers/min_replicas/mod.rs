//! Cached Deployments, HorizontalPodAutoscalers and Namespaces → [`Plan`].
//!
//! Keeps Deployments that opted in at a minimum number of replicas. Three steps, always
//! in this order: **observe** (the caches, or the live object), **[`plan`]** (pure), then
//! **write** through [`WriteScale`], guarded by what was observed.
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
