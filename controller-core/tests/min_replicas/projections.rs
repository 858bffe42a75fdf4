//! What is kept of an API object, and what may be missing from one.

use controller_core::controllers::min_replicas::{
    Deployment, HorizontalPodAutoscaler, Namespace, OddApiVersion,
};
use controller_core::watch::Object;
use serde_json::json;

use crate::fixture::{autoscaler, deployment};

#[test]
fn a_full_deployment_is_read() {
    let object: Deployment = serde_json::from_value(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "u",
            "resourceVersion": "9",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "deletionTimestamp": "2026-01-02T00:00:00Z",
            "finalizers": ["foregroundDeletion"],
            "labels": {"app": "web", "demo/min-replicas": "true"},
            "annotations": {
                "minrep.dev/min": "3",
                "kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{}}",
            },
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Foo", "name": "f1", "uid": "x", "controller": true},
            ],
            "managedFields": [{"manager": "kubectl", "operation": "Apply"}],
        },
        "spec": {"replicas": 4, "paused": true, "selector": {}},
        "status": {"replicas": 4, "conditions": []},
    }))
    .unwrap();
    assert_eq!(object.key().to_string(), "shop/web");
    assert_eq!((object.uid(), object.resource_version()), ("u", "9"));
    assert_eq!(object.labels().len(), 2);
    assert_eq!(object.annotation("minrep.dev/min"), Some("3"));
    assert_eq!(
        object.annotation("kubectl.kubernetes.io/last-applied-configuration"),
        None,
        "only our own annotations are kept"
    );
    assert!(object.is_being_deleted());
    assert_eq!(object.controller().unwrap().to_string(), "Foo/f1");
    assert_eq!(object.replicas(), 4);
}

#[test]
fn null_is_as_good_as_absent() {
    let object = deployment(|object| {
        let metadata = &mut object["metadata"];
        metadata["labels"] = json!(null);
        metadata["annotations"] = json!(null);
        metadata["ownerReferences"] = json!(null);
        metadata["deletionTimestamp"] = json!(null);
        object["spec"]["replicas"] = json!(null);
    });
    assert!(object.labels().is_empty());
    assert!(object.controller().is_none());
    assert!(!object.is_being_deleted());
    assert_eq!(object.replicas(), 1);
    assert_eq!(
        deployment(|object| object["spec"] = json!(null)).replicas(),
        1
    );
    let object = deployment(|object| {
        object["metadata"]["annotations"] = json!({"minrep.dev/keep-zero": null});
    });
    assert_eq!(object.annotation("minrep.dev/keep-zero"), None);
}

/// Without them a write would have no guard.
#[test]
fn a_deployment_without_uid_or_version_is_refused() {
    for field in ["uid", "resourceVersion"] {
        for value in [json!(null), json!("")] {
            let read = serde_json::from_value::<Deployment>(json!({
                "metadata": {"name": "web", "uid": "u", "resourceVersion": "1", field: value},
            }));
            assert_eq!(
                read.unwrap_err().to_string(),
                format!("metadata.{field} is missing")
            );
        }
    }
}

#[test]
fn a_target_counts_by_group_and_kind_whatever_the_version() {
    let odd = |text: &str| Some(OddApiVersion::Other(text.into()));
    for (api_version, kind, expected, expected_odd) in [
        (json!("apps/v1"), "Deployment", Some("shop/web"), None),
        (json!("apps/v1beta2"), "Deployment", Some("shop/web"), None),
        (
            json!(null),
            "Deployment",
            Some("shop/web"),
            Some(OddApiVersion::Missing),
        ),
        (
            json!(""),
            "Deployment",
            Some("shop/web"),
            Some(OddApiVersion::Missing),
        ),
        (
            json!("extensions/v1beta1"),
            "Deployment",
            Some("shop/web"),
            odd("extensions/v1beta1"),
        ),
        (json!("v1"), "Deployment", Some("shop/web"), odd("v1")),
        (
            json!("argoproj.io/v1"),
            "Deployment",
            None,
            odd("argoproj.io/v1"),
        ),
        (json!("apps/v1"), "StatefulSet", None, None),
    ] {
        let object = autoscaler(json!({"apiVersion": api_version, "kind": kind, "name": "web"}));
        let target = object.target().map(|target| target.to_string());
        assert_eq!(target.as_deref(), expected, "{api_version} {kind}");
        assert_eq!(object.odd_api_version(), expected_odd, "{api_version}");
    }
}

/// C-32: whatever is missing from an autoscaler, it is read.
#[test]
fn an_autoscaler_with_nothing_in_it_is_read() {
    for object in [
        json!({"metadata": {"name": "a", "namespace": "shop"}}),
        json!({"metadata": {"name": "a", "namespace": "shop"}, "spec": null}),
        json!({"metadata": {"name": "a", "namespace": "shop"}, "spec": {"scaleTargetRef": null}}),
        json!({"metadata": {"name": "a", "namespace": "shop"}, "spec": {"scaleTargetRef": {}}}),
    ] {
        let read: HorizontalPodAutoscaler = serde_json::from_value(object).unwrap();
        assert_eq!(read.target(), None);
        assert_eq!((read.min(), read.max()), (1, None));
    }
}

#[test]
fn a_namespace_is_paused_by_exactly_true() {
    for (annotations, paused) in [
        (json!({"minrep.dev/paused": "true"}), true),
        (json!({"minrep.dev/paused": "True"}), false),
        (json!({"other/paused": "true"}), false),
        (json!(null), false),
    ] {
        let read: Namespace = serde_json::from_value(json!({
            "metadata": {"name": "shop", "annotations": annotations},
            "status": {"phase": "Active"},
        }))
        .unwrap();
        assert_eq!(read.is_paused(), paused, "{annotations}");
        assert!(!read.is_terminating());
    }
    let read: Namespace = serde_json::from_value(json!({
        "metadata": {"name": "shop", "deletionTimestamp": "2026-01-01T00:00:00Z"},
    }))
    .unwrap();
    assert!(read.is_terminating());
}
