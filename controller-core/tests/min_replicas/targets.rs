//! Events of autoscalers and namespaces, and the Deployments that they concern.

use std::sync::Arc;

use controller_core::controllers::min_replicas::{
    HorizontalPodAutoscaler, deployments_of, namespace_of, target_index,
};
use controller_core::store::{Deleted, Delta, Tombstone};
use controller_core::watch::Object;
use serde_json::json;

use crate::fixture::{autoscaler, namespace};

fn targeting(name: &str) -> Arc<HorizontalPodAutoscaler> {
    Arc::new(autoscaler(
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name}),
    ))
}

fn keys(delta: &Delta<HorizontalPodAutoscaler>) -> Vec<String> {
    deployments_of(delta)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn an_autoscaler_is_found_by_what_it_targets() {
    assert_eq!(target_index(&targeting("web")), ["shop/web"]);
    let of_a_stateful_set =
        autoscaler(json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}));
    assert!(target_index(&of_a_stateful_set).is_empty());
}

#[test]
fn a_moved_autoscaler_concerns_the_old_and_the_new_target() {
    let delta = Delta::Updated {
        old: targeting("web"),
        new: targeting("api"),
    };
    assert_eq!(keys(&delta), ["shop/web", "shop/api"]);
}

#[test]
fn an_autoscaler_that_comes_or_goes_concerns_its_target() {
    let added = Delta::Added {
        new: targeting("web"),
        initial: false,
    };
    let observed = Delta::Deleted(Deleted::Observed(targeting("web")));
    let vanished = Delta::Deleted(Deleted::FinalStateUnknown(Tombstone {
        key: targeting("web").key(),
        last_known: targeting("web"),
    }));
    for delta in [added, observed, vanished] {
        assert_eq!(keys(&delta), ["shop/web"]);
    }
}

#[test]
fn a_change_of_status_alone_concerns_nobody() {
    let delta = Delta::Updated {
        old: targeting("web"),
        new: targeting("web"),
    };
    assert!(keys(&delta).is_empty());
}

#[test]
fn a_mended_api_version_is_a_change() {
    let delta = Delta::Updated {
        old: Arc::new(autoscaler(json!({"kind": "Deployment", "name": "web"}))),
        new: targeting("web"),
    };
    assert_eq!(keys(&delta), ["shop/web"]);
}

/// What `raise-min` decides from: a maximum that allows more is what a failure waits for.
#[test]
fn a_change_of_its_bounds_or_of_its_owner_is_one() {
    let of = |min: i32, max: i32, owner: &str| {
        let object = json!({
            "metadata": {
                "name": "web-hpa", "namespace": "shop",
                "ownerReferences": [{"kind": "Foo", "name": owner, "controller": true}],
            },
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "minReplicas": min, "maxReplicas": max,
            },
        });
        Arc::new(serde_json::from_value(object).unwrap())
    };
    for (new, concerns) in [
        (of(1, 5, "a"), false),
        (of(2, 5, "a"), true),
        (of(1, 6, "a"), true),
        (of(1, 5, "b"), true),
    ] {
        let old = of(1, 5, "a");
        let delta = Delta::Updated { old, new };
        assert_eq!(keys(&delta).len(), usize::from(concerns), "{delta:?}");
    }
}

#[test]
fn a_namespace_concerns_its_deployments_when_its_pause_begins_or_ends() {
    let (open, paused) = (Arc::new(namespace(false)), Arc::new(namespace(true)));
    let updated = |old, new| Delta::Updated {
        old: Arc::clone(old),
        new: Arc::clone(new),
    };
    let added = |new| Delta::Added {
        new: Arc::clone(new),
        initial: false,
    };
    let deleted = |old| Delta::Deleted(Deleted::Observed(Arc::clone(old)));
    for (case, delta, concerns) in [
        ("begins", updated(&open, &paused), true),
        ("ends", updated(&paused, &open), true),
        ("stays", updated(&paused, &paused), false),
        ("something else", updated(&open, &open), false),
        ("made paused", added(&paused), true),
        ("made", added(&open), false),
        ("paused and gone", deleted(&paused), true),
        ("gone", deleted(&open), false),
        (
            "resync",
            Delta::Resynced {
                object: Arc::clone(&paused),
            },
            false,
        ),
    ] {
        let namespace = namespace_of(&delta);
        assert_eq!(namespace.as_deref(), concerns.then_some("shop"), "{case}");
    }
}
