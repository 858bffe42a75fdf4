//! Which Deployments an event of another kind concerns.

use std::sync::Arc;

use super::autoscaler::HorizontalPodAutoscaler;
use super::namespace::Namespace;
use super::scaled_object::ScaledObject;
use crate::client::ObjectKey;
use crate::store::Delta;

/// The index of HorizontalPodAutoscalers, and of ScaledObjects, by the Deployment that they
/// target: `namespace/name`. Register it with [`target_index`] or [`scaled_object_index`].
pub const TARGET_INDEX: &str = "target";

/// The index function of [`TARGET_INDEX`] over HorizontalPodAutoscalers.
pub fn target_index(autoscaler: &HorizontalPodAutoscaler) -> Vec<String> {
    index_values(autoscaler.target())
}

/// The index function of [`TARGET_INDEX`] over ScaledObjects.
pub fn scaled_object_index(scaled_object: &ScaledObject) -> Vec<String> {
    index_values(scaled_object.target())
}

/// The Deployments that want a look after this change of an autoscaler: the one that it
/// targets and the one that it targeted. Empty if only its status changed, which happens
/// every 15 seconds.
///
/// The dangerous mistake is to enqueue them unseen: an autoscaler may target a Deployment
/// that nobody opted in. Enqueue only those that are in the cache.
pub fn deployments_of(delta: &Delta<HorizontalPodAutoscaler>) -> Vec<ObjectKey> {
    match delta {
        Delta::Updated { old, new } if old.target() == new.target() => {
            let same = old.odd_api_version() == new.odd_api_version()
                && old.controller() == new.controller()
                && (old.min(), old.max()) == (new.min(), new.max());
            new.target().filter(|_| !same).into_iter().collect()
        }
        delta => targets_of(delta, HorizontalPodAutoscaler::target),
    }
}

/// The Deployments that want a look after this change of a ScaledObject, as
/// [`deployments_of`] has it.
pub fn deployments_of_scaled_object(delta: &Delta<ScaledObject>) -> Vec<ObjectKey> {
    match delta {
        Delta::Updated { old, new } if old.target() == new.target() => Vec::new(),
        delta => targets_of(delta, ScaledObject::target),
    }
}

fn index_values(target: Option<ObjectKey>) -> Vec<String> {
    target.into_iter().map(|it| it.to_string()).collect()
}

/// What is targeted now, and what was targeted before.
fn targets_of<T>(delta: &Delta<T>, target: fn(&T) -> Option<ObjectKey>) -> Vec<ObjectKey> {
    match delta {
        Delta::Added { new: one, .. } | Delta::Resynced { object: one } => {
            target(one).into_iter().collect()
        }
        Delta::Deleted(deleted) => target(deleted.last_known()).into_iter().collect(),
        Delta::Updated { old, new } => target(old).into_iter().chain(target(new)).collect(),
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
