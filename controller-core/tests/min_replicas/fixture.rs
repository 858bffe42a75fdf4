//! API objects, made the way the server sends them.

use controller_core::controllers::min_replicas::{
    Deployment, HorizontalPodAutoscaler, Namespace, Settings,
};
use serde_json::{Value, json};

/// The Deployment `shop/web`, opted in, at 1 replica; `change` edits its JSON.
pub(crate) fn deployment(change: impl FnOnce(&mut Value)) -> Deployment {
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "uid-web",
            "resourceVersion": "7",
            "labels": {"demo/min-replicas": "true"},
        },
        "spec": {"replicas": 1, "template": {"spec": {"containers": []}}},
        "status": {},
    });
    change(&mut object);
    serde_json::from_value(object).unwrap()
}

/// The autoscaler `shop/web-hpa` with this `scaleTargetRef`.
pub(crate) fn autoscaler(target: Value) -> HorizontalPodAutoscaler {
    let mut object = json!({
        "metadata": {
            "name": "web-hpa",
            "namespace": "shop",
            "uid": "uid-hpa",
            "resourceVersion": "8",
        },
        "spec": {"minReplicas": 1, "maxReplicas": 5},
    });
    object["spec"]["scaleTargetRef"] = target;
    serde_json::from_value(object).unwrap()
}

/// The namespace `shop`.
pub(crate) fn namespace(paused: bool) -> Namespace {
    let annotations = if paused {
        json!({"minrep.dev/paused": "true"})
    } else {
        json!({})
    };
    serde_json::from_value(json!({
        "metadata": {
            "name": "shop",
            "uid": "uid-shop",
            "resourceVersion": "3",
            "annotations": annotations,
        },
    }))
    .unwrap()
}

/// The settings as a first user meets them, changed by `change`.
pub(crate) fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings);
    settings
}
