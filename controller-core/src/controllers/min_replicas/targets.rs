//! Which Deployments an event of another kind concerns.

use std::sync::Arc;

use super::autoscaler::HorizontalPodAutoscaler;
use super::namespace::Namespace;
use crate::client::ObjectKey;
use crate::store::Delta;

/// The index of HorizontalPodAutoscalers by the Deployment that they target:
/// `namespace/name`. Register it with [`target_index`].
pub const TARGET_INDEX: &str = "target";

/// The index function of [`TARGET_INDEX`].
pub fn target_index(autoscaler: &HorizontalPodAutoscaler) -> Vec<String> {
    autoscaler
        .target()
        .map(|target| target.to_string())
        .into_iter()
        .collect()
}

/// The Deployments that want a look after this change of an autoscaler: the one that it
/// targets and the one that it targeted. Empty if only its status changed, which happens
/// every 15 seconds.
///
/// The dangerous mistake is to enqueue them unseen: an autoscaler may target a Deployment
/// that nobody opted in. Enqueue only those that are in the cache.
pub fn deployments_of(delta: &Delta<HorizontalPodAutoscaler>) -> Vec<ObjectKey> {
    match delta {
        Delta::Added { new: one, .. } | Delta::Resynced { object: one } => {
            one.target().into_iter().collect()
        }
        Delta::Deleted(deleted) => deleted.last_known().target().into_iter().collect(),
        Delta::Updated { old, new } => {
            let (before, after) = (old.target(), new.target());
            if before == after {
                let same = old.odd_api_version() == new.odd_api_version()
                    && (old.min(), old.max()) == (new.min(), new.max());
                return after.filter(|_| !same).into_iter().collect();
            }
            before.into_iter().chain(after).collect()
        }
    }
}

/// The namespace whose Deployments want a look after this change of a Namespace: `None`
/// unless it was paused or is no longer paused.
pub fn namespace_of(delta: &Delta<Namespace>) -> Option<String> {
    let (before, after) = match delta {
        Delta::Added { new, .. } => (None, Some(new)),
        Delta::Updated { old, new } => (Some(old), Some(new)),
        Delta::Deleted(deleted) => (Some(deleted.last_known()), None),
        Delta::Resynced { .. } => return None,
    };
    let paused = |namespace: Option<&Arc<Namespace>>| namespace.is_some_and(|it| it.is_paused());
    (paused(before) != paused(after)).then(|| delta.key().name().to_owned())
}
