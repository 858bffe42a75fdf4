//! What holds for every plan, whatever was observed.

use std::sync::Arc;

use controller_core::controllers::min_replicas::{
    Deployment, HorizontalPodAutoscaler, HpaPolicy, Observed, Plan, Through, ZeroPolicy, plan,
};
use proptest::prelude::*;
use serde_json::json;

use crate::fixture::{deployment, namespace, settings};

prop_compose! {
    fn any_deployment()(
        replicas in prop::option::of(0..20i32),
        label in prop::option::of(prop::sample::select(vec!["true", "True", "false", ""])),
        deleting in any::<bool>(),
        owned in any::<bool>(),
        keep_zero in any::<bool>(),
    ) -> Deployment {
        deployment(|object| {
            object["spec"]["replicas"] = json!(replicas);
            object["metadata"]["labels"] = match label {
                Some(label) => json!({"demo/min-replicas": label}),
                None => json!(null),
            };
            if deleting {
                object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            if owned {
                object["metadata"]["ownerReferences"] =
                    json!([{"kind": "Foo", "name": "f1", "controller": true}]);
            }
            if keep_zero {
                object["metadata"]["annotations"] = json!({"minrep.dev/keep-zero": "true"});
            }
        })
    }
}

proptest! {
    /// An autoscaler's minimum is only ever raised, to the minimum, and never above its
    /// maximum; and with one, the Deployment's own number is never written.
    #[test]
    fn a_minimum_is_only_ever_raised_within_its_maximum(
        object in any_deployment(),
        min in 1..20i32,
        autoscaler_min in prop::option::of(0..20i32),
        max in prop::option::of(0..20i32),
    ) {
        let settings = settings(|settings| {
            settings.min = min;
            settings.hpa = HpaPolicy::RaiseMin;
        });
        let autoscaler: HorizontalPodAutoscaler = serde_json::from_value(json!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "h", "resourceVersion": "8"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "minReplicas": autoscaler_min, "maxReplicas": max,
            },
        })).unwrap();
        let autoscalers = [Arc::new(autoscaler)];
        let observed = Observed { autoscalers: &autoscalers, ..Observed::new(&object) };
        if let Plan::Raise(raise) = plan(&observed, &settings) {
            let is_autoscalers = matches!(raise.through, Through::Autoscaler { .. });
            prop_assert!(is_autoscalers);
            prop_assert_eq!(raise.guard(), ("h", "8"));
            prop_assert_eq!(raise.from, autoscaler_min.unwrap_or(1));
            prop_assert!(raise.from < raise.to && raise.to == min);
            prop_assert!(max.is_none_or(|max| raise.to <= max));
        }
    }

    /// Never lowers, never raises above the minimum, and only what opted in and is nobody
    /// else's.
    #[test]
    fn it_only_ever_raises_to_the_minimum(
        object in any_deployment(),
        min in 0..20i32,
        keep in any::<bool>(),
        paused in any::<bool>(),
    ) {
        let settings = settings(|settings| {
            settings.min = min;
            settings.zero = if keep { ZeroPolicy::Keep } else { ZeroPolicy::Raise };
        });
        let namespace = namespace(paused);
        let observed = Observed {
            namespace: Some(&namespace),
            ..Observed::new(&object)
        };
        if let Plan::Raise(raise) = plan(&observed, &settings) {
            prop_assert_eq!(raise.from, object.replicas());
            prop_assert_eq!(raise.to, min);
            prop_assert!(raise.from < raise.to);
            prop_assert_eq!(object.labels().get("demo/min-replicas"), Some("true"));
            prop_assert!(!object.is_being_deleted());
            prop_assert!(object.controller().is_none());
            prop_assert!(!paused);
            prop_assert!(!(keep && raise.from == 0));
        }
    }
}
