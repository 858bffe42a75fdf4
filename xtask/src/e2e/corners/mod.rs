//! What a cluster has around the rule: autoscalers, rollouts, deletions, policies, quotas.
//!
//! Only a real control plane has the controllers and the admission that these are about.
mod contested;
mod moving;
mod refused;
mod run;
mod twice;

pub(super) use run::run;
