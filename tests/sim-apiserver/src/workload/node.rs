//! The Node on which every Pod runs.

use serde_json::json;

use super::owner::{Workload, change, set_condition, write_options};
use crate::{
    kinds::Kinds,
    lifecycle::{self, Part},
    store::{Key, State},
};

pub(super) const NAME: &str = "sim-node";
pub(super) const ADDRESS: &str = "10.240.0.1";

/// Makes it, when the controllers start.
pub(super) fn create(state: &mut State, kinds: &Kinds, workload: &Workload) {
    let id = workload.nodes;
    let resources = json!({"cpu": "1k", "memory": "1Ti", "pods": "1M"});
    let node = json!({
        "metadata": {"name": NAME, "labels": {"kubernetes.io/hostname": NAME}},
        "status": {
            "addresses": [{"type": "InternalIP", "address": ADDRESS}],
            "allocatable": resources,
            "capacity": resources,
            "nodeInfo": {"kubeletVersion": "v1.36.1", "operatingSystem": "linux", "architecture": "amd64"},
        },
    });
    // It is the first.
    let _ = lifecycle::create(state, kinds, id, "", node, &write_options(kinds, id));
    change(
        state,
        kinds,
        id,
        &Key::new("", NAME),
        Part::Status,
        |node| {
            let conditions = &mut node["status"]["conditions"];
            set_condition(conditions, "Ready", "True", "KubeletReady", "");
        },
    );
}
