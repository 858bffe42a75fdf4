//! Pods: made from a template, scheduled at once, Ready when their time has come.

use serde_json::{Value, json};

use super::{
    event::{self, Source},
    node,
    owner::{Workload, change, living, owner_reference, set_condition},
};
use crate::{
    kinds::Kinds,
    lifecycle::{self, Part},
    store::{Object, State},
};

/// A Pod as the ReplicaSet controller creates it.
pub(super) fn from_template(kinds: &Kinds, workload: &Workload, set: &Value) -> Value {
    let template = &set["spec"]["template"];
    let name = set["metadata"]["name"].as_str().unwrap_or_default();
    let mut spec = template["spec"].clone();
    spec["nodeName"] = json!(node::NAME);
    json!({
        "metadata": {
            "generateName": format!("{name}-"),
            "labels": template["metadata"]["labels"],
            "annotations": template["metadata"]["annotations"],
            "ownerReferences": [owner_reference(kinds, workload.replica_sets, set)],
        },
        "spec": spec,
    })
}

/// Tells what a scheduler would have told.
pub(super) fn tell_scheduled(state: &mut State, kinds: &Kinds, workload: &Workload, pod: &Object) {
    let (name, node) = (pod.key.as_str(), node::NAME);
    let message = format!("Successfully assigned {name} to {node}");
    let what = ("Scheduled", message.as_str());
    let object = (workload.pods, &pod.value());
    event::record(state, kinds, workload, object, Source::Scheduler, what);
}

/// Gives a node to a Pod that somebody made by hand.
fn schedule(state: &mut State, kinds: &Kinds, workload: &Workload, pod: &Object) {
    // By a way that only a scheduler has: whoever updates a Pod cannot move it.
    let mut value = pod.value();
    value["spec"]["nodeName"] = json!(node::NAME);
    state.put(workload.pods, value);
    tell_scheduled(state, kinds, workload, pod);
}

pub(super) fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions
        .into_iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Starts a Pod's containers; a Pod that has a phase of its own making is left alone.
pub(super) fn make_ready(state: &mut State, kinds: &Kinds, workload: &Workload, path: &str) {
    let Some((object, pod)) = living(state, workload.pods, path) else {
        return;
    };
    if pod["status"]["phase"] != "Pending" {
        return;
    }
    if pod["spec"]["nodeName"].is_null() {
        schedule(state, kinds, workload, &object);
    }
    change(
        state,
        kinds,
        workload.pods,
        &object.key,
        Part::Status,
        |pod| {
            let now = lifecycle::timestamp();
            let containers: Vec<Value> = pod["spec"]["containers"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|container| {
                json!({"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": true,
                    "started": true, "restartCount": 0, "state": {"running": {"startedAt": now}}})
            })
            .collect();
            let status = &mut pod["status"];
            status["phase"] = json!("Running");
            status["startTime"] = json!(now);
            let address = address(object.revision);
            status["podIPs"] = json!([{"ip": address}]);
            status["podIP"] = address.into();
            status["hostIPs"] = json!([{"ip": node::ADDRESS}]);
            status["hostIP"] = json!(node::ADDRESS);
            status["containerStatuses"] = containers.into();
            for condition in [
                "PodReadyToStartContainers",
                "Initialized",
                "Ready",
                "ContainersReady",
                "PodScheduled",
            ] {
                set_condition(&mut status["conditions"], condition, "True", "", "");
            }
            let conditions = status["conditions"].as_array_mut();
            for condition in conditions.into_iter().flatten() {
                // Nobody probes; the real server writes it all the same.
                condition["lastProbeTime"] = Value::Null;
            }
        },
    );
}

/// An address that no other Pod has, as long as there are fewer than four million.
fn address(revision: u64) -> String {
    format!(
        "10.{}.{}.{}",
        64 + (revision >> 16) % 64,
        (revision >> 8) % 256,
        revision % 256
    )
}
