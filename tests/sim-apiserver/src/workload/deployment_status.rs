//! What a Deployment's status says of its ReplicaSets.

use serde_json::Value;

use super::{
    deployment::HASH,
    owner::{count, set_condition, set_counts},
    rollout::Strategy,
};
use crate::lifecycle;

pub(super) fn set_status(deployment: &mut Value, sets: &[Value], hash: &str, strategy: &Strategy) {
    let sum = |field: &str| {
        sets.iter()
            .map(|set| count(&set["status"][field]))
            .sum::<i64>()
    };
    let current = sets
        .iter()
        .find(|set| set["metadata"]["labels"][HASH] == hash);
    let updated = current.map_or(0, |set| count(&set["status"]["replicas"]));
    let desired = strategy.desired;
    let available = sum("availableReplicas");
    let generation = deployment["metadata"]["generation"].clone();
    let paused = deployment["spec"]["paused"] == true;
    let replicas = sum("replicas");
    let status = &mut deployment["status"];
    set_counts(
        status,
        &[
            ("replicas", replicas),
            ("updatedReplicas", updated),
            ("readyReplicas", sum("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (desired - available).max(0)),
        ],
    );
    status["terminatingReplicas"] = 0.into();
    status["observedGeneration"] = generation;
    let (up, reason, message) = if available >= strategy.least_available() {
        (
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    } else {
        (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    };
    let conditions = &mut status["conditions"];
    update_condition(conditions, "Available", up, reason, message);
    let progressing = |conditions: &mut Value, up: &str, reason: &str, message: &str| {
        update_condition(conditions, "Progressing", up, reason, message);
    };
    if paused {
        progressing(
            conditions,
            "Unknown",
            "DeploymentPaused",
            "Deployment is paused",
        );
    } else if let Some(set) = current {
        let name = set["metadata"]["name"].as_str().unwrap_or_default();
        if available >= desired && updated >= desired && replicas == updated {
            let message = format!("ReplicaSet \"{name}\" has successfully progressed.");
            progressing(conditions, "True", "NewReplicaSetAvailable", &message);
        } else {
            let message = format!("ReplicaSet \"{name}\" is progressing.");
            progressing(conditions, "True", "ReplicaSetUpdated", &message);
        }
    }
}

/// Only a Deployment's conditions say when they were last written.
fn update_condition(conditions: &mut Value, kind: &str, up: &str, reason: &str, message: &str) {
    if !set_condition(conditions, kind, up, reason, message) {
        return;
    }
    let list = conditions.as_array_mut().into_iter().flatten();
    for condition in list.filter(|condition| condition["type"] == kind) {
        condition["lastUpdateTime"] = lifecycle::timestamp().into();
    }
}
