//! The defaults that the real server fills in, as far as controllers and kubectl look at them.

mod pod;
mod service;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use pod::{claim, pod_spec, quality_of_service};
pub(super) use service::service;

pub(super) fn namespace(namespace: &mut Value) {
    let name = namespace["metadata"]["name"].clone();
    set(
        &mut namespace["metadata"]["labels"],
        "kubernetes.io/metadata.name",
        name,
    );
    set(&mut namespace["spec"], "finalizers", json!(["kubernetes"]));
    set(&mut namespace["status"], "phase", json!("Active"));
}

pub(super) fn deployment(deployment: &mut Value) {
    let spec = &mut deployment["spec"];
    set(spec, "replicas", json!(1));
    set(spec, "revisionHistoryLimit", json!(10));
    set(spec, "progressDeadlineSeconds", json!(600));
    let strategy = &mut spec["strategy"];
    set(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        set(&mut strategy["rollingUpdate"], "maxSurge", json!("25%"));
        set(
            &mut strategy["rollingUpdate"],
            "maxUnavailable",
            json!("25%"),
        );
    }
    pod_spec(&mut spec["template"]["spec"]);
}

pub(super) fn replica_set(replica_set: &mut Value) {
    let spec = &mut replica_set["spec"];
    set(spec, "replicas", json!(1));
    pod_spec(&mut spec["template"]["spec"]);
    set(&mut replica_set["status"], "replicas", json!(0));
}

pub(super) fn stateful_set(stateful_set: &mut Value) {
    let spec = &mut stateful_set["spec"];
    set(spec, "replicas", json!(1));
    set(spec, "revisionHistoryLimit", json!(10));
    set(spec, "podManagementPolicy", json!("OrderedReady"));
    set(spec, "serviceName", json!(""));
    let retention = &mut spec["persistentVolumeClaimRetentionPolicy"];
    set(retention, "whenDeleted", json!("Retain"));
    set(retention, "whenScaled", json!("Retain"));
    let strategy = &mut spec["updateStrategy"];
    set(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        set(&mut strategy["rollingUpdate"], "partition", json!(0));
    }
    pod_spec(&mut spec["template"]["spec"]);
    let claims = spec.get_mut("volumeClaimTemplates");
    for template in claims.and_then(Value::as_array_mut).into_iter().flatten() {
        claim(template);
    }
    for field in ["replicas", "availableReplicas"] {
        set(&mut stateful_set["status"], field, json!(0));
    }
}

pub(super) fn daemon_set(daemon_set: &mut Value) {
    let generation = daemon_set["metadata"]["generation"].as_i64().unwrap_or(0);
    let annotations = &mut daemon_set["metadata"]["annotations"];
    set(
        annotations,
        "deprecated.daemonset.template.generation",
        generation.to_string().into(),
    );
    let spec = &mut daemon_set["spec"];
    set(spec, "revisionHistoryLimit", json!(10));
    let strategy = &mut spec["updateStrategy"];
    set(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        set(&mut strategy["rollingUpdate"], "maxUnavailable", json!(1));
        set(&mut strategy["rollingUpdate"], "maxSurge", json!(0));
    }
    pod_spec(&mut spec["template"]["spec"]);
    for field in [
        "currentNumberScheduled",
        "desiredNumberScheduled",
        "numberMisscheduled",
        "numberReady",
    ] {
        set(&mut daemon_set["status"], field, json!(0));
    }
}

pub(super) fn job(job: &mut Value) {
    let metadata = job["metadata"].clone();
    let spec = &mut job["spec"];
    if spec["completions"].is_null() && spec["parallelism"].is_null() {
        set(spec, "completions", json!(1));
    }
    for (field, value) in [
        ("parallelism", json!(1)),
        ("backoffLimit", json!(6)),
        ("completionMode", json!("NonIndexed")),
        ("podReplacementPolicy", json!("TerminatingOrFailed")),
        ("manualSelector", json!(false)),
        ("suspend", json!(false)),
    ] {
        set(spec, field, value);
    }
    pod_spec(&mut spec["template"]["spec"]);
    if spec["manualSelector"] != true {
        let labels = &mut spec["template"]["metadata"]["labels"];
        for prefix in ["batch.kubernetes.io/", ""] {
            set(
                labels,
                &format!("{prefix}job-name"),
                metadata["name"].clone(),
            );
            set(
                labels,
                &format!("{prefix}controller-uid"),
                metadata["uid"].clone(),
            );
        }
        let uid = &metadata["uid"];
        let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
        set(spec, "selector", selector);
    }
    let labels = spec["template"]["metadata"]["labels"].clone();
    set(&mut job["metadata"], "labels", labels);
}

pub(super) fn cron_job(cron_job: &mut Value) {
    let spec = &mut cron_job["spec"];
    for (field, value) in [
        ("concurrencyPolicy", json!("Allow")),
        ("suspend", json!(false)),
        ("successfulJobsHistoryLimit", json!(3)),
        ("failedJobsHistoryLimit", json!(1)),
    ] {
        set(spec, field, value);
    }
    let template = &mut spec["jobTemplate"];
    set(template, "metadata", json!({}));
    set(&mut template["spec"]["template"], "metadata", json!({}));
    pod_spec(&mut template["spec"]["template"]["spec"]);
}

pub(super) fn disruption_budget(budget: &mut Value) {
    for field in [
        "currentHealthy",
        "desiredHealthy",
        "disruptionsAllowed",
        "expectedPods",
    ] {
        set(&mut budget["status"], field, json!(0));
    }
}

/// `stringData` is written only: it ends in `data`, in base64.
pub(super) fn secret(secret: &mut Value) {
    let texts = secret
        .as_object_mut()
        .and_then(|fields| fields.remove("stringData"));
    for (key, text) in texts
        .as_ref()
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
        secret["data"][key] = encoded.into();
    }
    set(secret, "type", json!("Opaque"));
}

pub(super) fn node(node: &mut Value) {
    set(node, "spec", json!({}));
    let status = &mut node["status"];
    set(
        &mut status["daemonEndpoints"]["kubeletEndpoint"],
        "Port",
        json!(0),
    );
    for field in [
        "architecture",
        "bootID",
        "containerRuntimeVersion",
        "kernelVersion",
        "kubeProxyVersion",
        "kubeletVersion",
        "machineID",
        "operatingSystem",
        "osImage",
        "systemUUID",
    ] {
        set(&mut status["nodeInfo"], field, json!(""));
    }
}

pub(super) fn pod(pod: &mut Value) {
    pod_spec(&mut pod["spec"]);
    let spec = &mut pod["spec"];
    set(spec, "enableServiceLinks", json!(true));
    // The real server's admission adds these, and a volume with a token, which nothing here could read.
    set(spec, "preemptionPolicy", json!("PreemptLowerPriority"));
    set(spec, "priority", json!(0));
    set(spec, "serviceAccountName", json!("default"));
    let account = spec["serviceAccountName"].clone();
    set(spec, "serviceAccount", account);
    set(spec, "tolerations", tolerations());
    let class = quality_of_service(&pod["spec"]);
    let status = &mut pod["status"];
    set(status, "phase", json!("Pending"));
    set(status, "qosClass", json!(class));
}

/// What a container's status has, whoever wrote it.
pub(super) fn pod_status(pod: &mut Value) {
    for list in ["initContainerStatuses", "containerStatuses"] {
        let statuses = pod["status"].get_mut(list).and_then(Value::as_array_mut);
        for status in statuses.into_iter().flatten() {
            for state in ["state", "lastState"] {
                set(status, state, json!({}));
                if let Some(running) = status[state].get_mut("running") {
                    set(running, "startedAt", Value::Null);
                }
            }
        }
    }
}

pub(super) fn event(event: &mut Value) {
    for (field, value) in [
        ("eventTime", Value::Null),
        ("firstTimestamp", Value::Null),
        ("lastTimestamp", Value::Null),
        ("source", json!({})),
        ("reportingComponent", json!("")),
        ("reportingInstance", json!("")),
    ] {
        set(event, field, value);
    }
}

pub(super) fn autoscaler(autoscaler: &mut Value) {
    let spec = &mut autoscaler["spec"];
    set(spec, "minReplicas", json!(1));
    let busy_cpu = json!([{"type": "Resource", "resource": {"name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 80}}}]);
    set(spec, "metrics", busy_cpu);
    if let Some(behavior) = spec.get_mut("behavior").filter(|given| !given.is_null()) {
        let all = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
        let some = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
        let up = &mut behavior["scaleUp"];
        set(up, "stabilizationWindowSeconds", json!(0));
        set(up, "selectPolicy", json!("Max"));
        set(up, "policies", json!([some, all]));
        let down = &mut behavior["scaleDown"];
        set(down, "selectPolicy", json!("Max"));
        set(down, "policies", json!([all]));
    }
    let status = &mut autoscaler["status"];
    set(status, "desiredReplicas", json!(0));
    set(status, "currentMetrics", Value::Null);
}

/// What every Pod puts up with for a while.
fn tolerations() -> Value {
    let one = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let keys = [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ];
    keys.map(one).to_vec().into()
}

/// Sets a field that is absent or null, in an object that is made if need be.
fn set(object: &mut Value, field: &str, value: Value) {
    if object.is_null() {
        *object = json!({});
    }
    if let Some(fields) = object.as_object_mut() {
        let slot = fields.entry(field).or_insert(Value::Null);
        if slot.is_null() {
            *slot = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_gets_what_it_left_out_and_keeps_the_rest() {
        let mut value = json!({"spec": {"strategy": {"type": "Recreate"}, "template": {"spec": {"containers":
            [{"name": "c", "image": "registry:5000/web", "ports": [{"containerPort": 80}]}]}}}});
        deployment(&mut value);
        assert_eq!(value["spec"]["replicas"], 1);
        assert_eq!(value["spec"]["strategy"], json!({"type": "Recreate"}));
        let container = &value["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["imagePullPolicy"], "Always");
        assert_eq!(container["ports"][0]["protocol"], "TCP");
        assert_eq!(
            value["spec"]["template"]["spec"].get("initContainers"),
            None
        );
    }

    #[test]
    fn defaulting_twice_changes_nothing() {
        let mut once = json!({"spec": {"replicas": 0, "template": {"spec": {"containers": [{"image": "a:1"}]}}}});
        deployment(&mut once);
        let mut twice = once.clone();
        deployment(&mut twice);
        assert_eq!(once, twice);
        assert_eq!(once["spec"]["replicas"], 0);
    }
}
