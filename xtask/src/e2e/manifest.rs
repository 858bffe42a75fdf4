use serde_json::{Value, json};

/// What opts a Deployment in.
pub(super) const LABEL: &str = "demo/min-replicas";

/// A Deployment like the sample, with another name.
pub(super) fn deployment(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{
                    "name": "nginx",
                    "image": "nginx:1.27",
                    "ports": [{"containerPort": 80}],
                }]},
            },
        },
    })
}

/// The same, opted in.
pub(super) fn opted_in(name: &str, replicas: u32) -> Value {
    let mut object = deployment(name, replicas);
    object["metadata"]["labels"][LABEL] = json!("true");
    object
}

/// Many objects as one manifest.
pub(super) fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// The opted-in Deployment `name`, with `owner` as its controller.
pub(super) fn owned(name: &str, owner: &Value) -> Value {
    let mut object = opted_in(name, 1);
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
    }]);
    object
}

/// A ConfigMap, to own something.
pub(super) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// A HorizontalPodAutoscaler that is content with one replica of Deployment `target`.
pub(super) fn autoscaler(target: &str) -> Value {
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": target},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target},
            "minReplicas": 1,
            "maxReplicas": 5,
            "metrics": [{"type": "Resource", "resource": {
                "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
            }}],
        },
    })
}
