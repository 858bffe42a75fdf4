//! What a cluster has around the rule: autoscalers, rollouts, deletions, policies, quotas.
//!
//! Each says what it needs: not every provider has the controllers and the admission that
//! some of these are about.
mod contested;
mod moving;
mod refused;
mod run;
mod twice;

pub(super) use run::run;
