//! The defaults that the real server fills in, as far as controllers and kubectl look at them.

use serde_json::{Value, json};

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

pub(super) fn pod(pod: &mut Value) {
    pod_spec(&mut pod["spec"]);
    set(&mut pod["status"], "phase", json!("Pending"));
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
    let status = &mut autoscaler["status"];
    set(status, "desiredReplicas", json!(0));
    set(status, "currentMetrics", Value::Null);
}

fn pod_spec(spec: &mut Value) {
    set(spec, "restartPolicy", json!("Always"));
    set(spec, "terminationGracePeriodSeconds", json!(30));
    set(spec, "dnsPolicy", json!("ClusterFirst"));
    set(spec, "securityContext", json!({}));
    set(spec, "schedulerName", json!("default-scheduler"));
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let latest = container["image"].as_str().is_some_and(is_latest);
            set(
                container,
                "imagePullPolicy",
                json!(if latest { "Always" } else { "IfNotPresent" }),
            );
            set(
                container,
                "terminationMessagePath",
                json!("/dev/termination-log"),
            );
            set(container, "terminationMessagePolicy", json!("File"));
            set(container, "resources", json!({}));
            let ports = container.get_mut("ports").and_then(Value::as_array_mut);
            for port in ports.into_iter().flatten() {
                set(port, "protocol", json!("TCP"));
            }
        }
    }
}

fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or(image);
    if name.contains('@') {
        return false;
    }
    name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
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
