//! One ReplicaSet → its Pods and its status.

use serde_json::Value;

use super::{
    event::{self, Source},
    owner::{Workload, change, count, living, owned, set_counts, write_options},
    pod,
};
use crate::{
    kinds::Kinds,
    lifecycle::{self, DeleteOptions, Part},
    store::State,
};

pub(super) fn reconcile(state: &mut State, kinds: &Kinds, workload: &Workload, path: &str) {
    let Some((object, set)) = living(state, workload.replica_sets, path) else {
        return;
    };
    let mut pods = owned(state, workload.pods, &object.uid);
    pods.retain(|(_, pod)| pod["metadata"]["deletionTimestamp"].is_null());
    let desired = usize::try_from(count(&set["spec"]["replicas"])).unwrap_or(0);

    for _ in pods.len()..desired {
        let pod = pod::from_template(kinds, workload, &set);
        let namespace = object.key.namespace();
        let options = write_options(kinds, workload.pods);
        // A namespace that is going takes no new content.
        let created = lifecycle::create(state, kinds, workload.pods, namespace, pod, &options);
        if let Ok(pod) = created {
            let name = pod.key.name();
            let message = format!("Created pod: {name}");
            tell(state, kinds, workload, &set, ("SuccessfulCreate", &message));
            pod::tell_scheduled(state, kinds, workload, &pod);
        }
    }
    // The real controller too takes those first that serve nobody, then the youngest.
    pods.sort_by_key(|(object, pod)| (pod::is_ready(pod), std::cmp::Reverse(object.revision)));
    for (surplus, _) in pods.iter().take(pods.len().saturating_sub(desired)) {
        let _ = lifecycle::delete(
            state,
            kinds,
            workload.pods,
            &surplus.key,
            &DeleteOptions::default(),
        );
        let message = format!("Deleted pod: {}", surplus.key.name());
        tell(state, kinds, workload, &set, ("SuccessfulDelete", &message));
    }

    let pods: Vec<Value> = owned(state, workload.pods, &object.uid)
        .into_iter()
        .map(|(_, pod)| pod)
        .collect();
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let ready = number(pods.iter().filter(|pod| pod::is_ready(pod)).count());
    change(
        state,
        kinds,
        workload.replica_sets,
        &object.key,
        Part::Status,
        |set| {
            let generation = set["metadata"]["generation"].clone();
            let status = &mut set["status"];
            set_counts(
                status,
                &[
                    ("fullyLabeledReplicas", number(pods.len())),
                    ("readyReplicas", ready),
                    ("availableReplicas", ready),
                ],
            );
            status["replicas"] = number(pods.len()).into();
            status["terminatingReplicas"] = 0.into();
            status["observedGeneration"] = generation;
        },
    );
}

fn tell(state: &mut State, kinds: &Kinds, workload: &Workload, set: &Value, what: (&str, &str)) {
    let object = (workload.replica_sets, set);
    event::record(state, kinds, workload, object, Source::ReplicaSet, what);
}
