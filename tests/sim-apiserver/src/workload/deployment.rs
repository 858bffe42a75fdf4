//! One Deployment → its ReplicaSets and its status.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use super::owner::{
    Workload, change, count, living, owned, owner_reference, set_condition, set_counts,
    write_options,
};
use crate::{
    kinds::{KindId, Kinds},
    lifecycle::{self, Part},
    store::{Key, State},
};

const REVISION: &str = "deployment.kubernetes.io/revision";
const HASH: &str = "pod-template-hash";

pub(super) fn reconcile(state: &mut State, kinds: &Kinds, workload: &Workload, path: &str) {
    let Some((object, deployment)) = living(state, workload.deployments, path) else {
        return;
    };
    let hash = template_hash(&deployment["spec"]["template"]);
    let sets = owned(state, workload.replica_sets, &object.uid);
    let current = sets
        .iter()
        .find(|(_, set)| set["metadata"]["labels"][HASH] == hash.as_str());
    let desired = count(&deployment["spec"]["replicas"]);

    match current {
        None if deployment["spec"]["paused"] == true => {}
        None => {
            let newest = sets
                .iter()
                .map(|(_, set)| revision_of(set))
                .max()
                .unwrap_or(0);
            let set = replica_set(kinds, workload, &deployment, &hash, newest + 1);
            let namespace = object.key.namespace();
            let options = write_options(kinds, workload.replica_sets);
            // A namespace that is going takes no new content.
            let _ = lifecycle::create(
                state,
                kinds,
                workload.replica_sets,
                namespace,
                set,
                &options,
            );
        }
        Some((set, value)) => {
            if count(&value["spec"]["replicas"]) != desired {
                scale(state, kinds, workload, &set.key, desired);
            }
            if count(&value["status"]["availableReplicas"]) >= desired {
                for (old, value) in sets.iter().filter(|(old, _)| old.key != set.key) {
                    if count(&value["spec"]["replicas"]) != 0 {
                        scale(state, kinds, workload, &old.key, 0);
                    }
                }
            }
            let newest = sets
                .iter()
                .map(|(_, set)| revision_of(set))
                .max()
                .unwrap_or(0);
            let mut revision = revision_of(value);
            if revision < newest {
                // A template that comes back is a new revision.
                revision = newest + 1;
                annotate(state, kinds, workload.replica_sets, &set.key, revision);
            }
            if revision_of(&deployment) != revision {
                annotate(state, kinds, workload.deployments, &object.key, revision);
            }
        }
    }
    let sets = owned(state, workload.replica_sets, &object.uid);
    let sets: Vec<Value> = sets.into_iter().map(|(_, set)| set).collect();
    change(
        state,
        kinds,
        workload.deployments,
        &object.key,
        Part::Status,
        |deployment| {
            set_status(deployment, &sets, &hash);
        },
    );
}

fn annotate(state: &mut State, kinds: &Kinds, kind: KindId, key: &Key, revision: i64) {
    change(state, kinds, kind, key, Part::Main, |object| {
        object["metadata"]["annotations"][REVISION] = revision.to_string().into();
    });
}

fn scale(state: &mut State, kinds: &Kinds, workload: &Workload, set: &Key, replicas: i64) {
    change(
        state,
        kinds,
        workload.replica_sets,
        set,
        Part::Main,
        |set| {
            set["spec"]["replicas"] = replicas.into();
        },
    );
}

fn replica_set(
    kinds: &Kinds,
    workload: &Workload,
    deployment: &Value,
    hash: &str,
    revision: i64,
) -> Value {
    let spec = &deployment["spec"];
    let mut template = spec["template"].clone();
    template["metadata"]["labels"][HASH] = hash.into();
    let mut selector = spec["selector"].clone();
    selector["matchLabels"][HASH] = hash.into();
    let name = deployment["metadata"]["name"].as_str().unwrap_or_default();
    json!({
        "metadata": {
            "name": format!("{name}-{hash}"),
            "labels": template["metadata"]["labels"],
            "annotations": {REVISION: revision.to_string()},
            "ownerReferences": [owner_reference(kinds, workload.deployments, deployment)],
        },
        "spec": {
            "replicas": count(&spec["replicas"]),
            "selector": selector,
            "template": template,
        },
    })
}

fn set_status(deployment: &mut Value, sets: &[Value], hash: &str) {
    let sum = |field: &str| {
        sets.iter()
            .map(|set| count(&set["status"][field]))
            .sum::<i64>()
    };
    let current = sets
        .iter()
        .find(|set| set["metadata"]["labels"][HASH] == hash);
    let updated = current.map_or(0, |set| count(&set["status"]["replicas"]));
    let desired = count(&deployment["spec"]["replicas"]);
    let available = sum("availableReplicas");
    let generation = deployment["metadata"]["generation"].clone();
    let status = &mut deployment["status"];
    set_counts(
        status,
        &[
            ("replicas", sum("replicas")),
            ("updatedReplicas", updated),
            ("readyReplicas", sum("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (desired - available).max(0)),
        ],
    );
    status["observedGeneration"] = generation;
    // The default strategy lets a quarter be unavailable.
    let needed = desired - desired / 4;
    let (up, reason, message) = if available >= needed {
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
    set_condition(&mut status["conditions"], "Available", up, reason, message);
    if let Some(set) = current {
        let name = set["metadata"]["name"].as_str().unwrap_or_default();
        let done = available >= desired && updated >= desired && sum("replicas") == updated;
        let (reason, message) = if done {
            (
                "NewReplicaSetAvailable",
                format!("ReplicaSet \"{name}\" has successfully progressed."),
            )
        } else {
            (
                "ReplicaSetUpdated",
                format!("ReplicaSet \"{name}\" is progressing."),
            )
        };
        set_condition(
            &mut status["conditions"],
            "Progressing",
            "True",
            reason,
            &message,
        );
    }
}

fn revision_of(object: &Value) -> i64 {
    object["metadata"]["annotations"][REVISION]
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// A name for a template: the same for the same template, within one run.
fn template_hash(template: &Value) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hasher = DefaultHasher::new();
    template.to_string().hash(&mut hasher);
    let mut rest = hasher.finish();
    let base = ALPHABET.len() as u64;
    (0..10)
        .map(|_| {
            let digit = usize::try_from(rest % base).unwrap_or(0);
            rest /= base;
            char::from(ALPHABET[digit])
        })
        .collect()
}
