//! The Events that the controllers tell of their work.

use serde_json::{Value, json};
use uuid::Uuid;

use super::owner::{Workload, write_options};
use crate::{
    kinds::{KindId, Kinds},
    lifecycle,
    store::State,
};

/// Who tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Deployment,
    ReplicaSet,
    Scheduler,
}

/// Tells that something normal happened to an object.
pub(super) fn record(
    state: &mut State,
    kinds: &Kinds,
    workload: &Workload,
    (kind, object): (KindId, &Value),
    source: Source,
    (reason, message): (&str, &str),
) {
    let component = match source {
        Source::Deployment => "deployment-controller",
        Source::ReplicaSet => "replicaset-controller",
        Source::Scheduler => "default-scheduler",
    };
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str().unwrap_or_default();
    let name = metadata["name"].as_str().unwrap_or_default();
    let now = lifecycle::timestamp();
    let suffix = Uuid::new_v4().simple().to_string();
    let event = json!({
        "metadata": {"name": format!("{name}.{}", &suffix[..16])},
        "involvedObject": {
            "apiVersion": kinds.get(kind).api_version(),
            "kind": kinds.get(kind).kind,
            "namespace": namespace,
            "name": name,
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "type": "Normal",
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    });
    let options = write_options(kinds, workload.events);
    // A namespace that is going takes no new content.
    let _ = lifecycle::create(state, kinds, workload.events, namespace, event, &options);
}
