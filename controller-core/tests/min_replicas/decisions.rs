//! The plan, as tables.

use std::sync::Arc;
use std::time::Duration;

use controller_core::controllers::min_replicas::{
    Deployment, Hold, HorizontalPodAutoscaler, HpaPolicy, Observed, Opponent, Plan, Reason,
    ScaledBy, Settings, Turn, ZeroPolicy, plan,
};
use serde_json::{Value, json};

use crate::fixture::{autoscaler, deployment, namespace, settings};

/// What can hold at once, in the documented order. Each is one bit of a combination.
const ORDER: [(&str, u32); 12] = [
    ("BeingDeleted", 1 << 0),
    ("NotOptedIn", 1 << 1),
    ("NotSelected", 1 << 2),
    ("NamespacePaused", 1 << 3),
    ("NamespaceExcluded", 1 << 4),
    ("Owned", 1 << 5),
    ("ZeroKept", 1 << 6),
    ("Satisfied", 1 << 7),
    ("Autoscaled", 1 << 8),
    ("Fight", 1 << 9),
    ("Budget", 1 << 10),
    ("Raise", 0),
];

fn decide(deployment: &Deployment, settings: &Settings) -> Plan {
    plan(&Observed::new(deployment), settings)
}

/// An object, and settings, for which exactly the reasons in `bits` hold.
fn decide_combination(bits: u32) -> Plan {
    let holds = |name: &str| {
        let (_, bit) = ORDER.iter().find(|(other, _)| *other == name).unwrap();
        bits & bit != 0
    };
    let zero_kept = holds("ZeroKept");
    let object = deployment(|object| {
        let metadata = &mut object["metadata"];
        if holds("BeingDeleted") {
            metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        if holds("NotOptedIn") {
            metadata["labels"]["demo/min-replicas"] = json!("false");
        }
        if !holds("NotSelected") {
            metadata["labels"]["tier"] = json!("front");
        }
        if holds("Owned") {
            metadata["ownerReferences"] =
                json!([{"kind": "Foo", "name": "f1", "controller": true}]);
        }
        if zero_kept {
            metadata["annotations"] = json!({"minrep.dev/keep-zero": "true"});
        }
        object["spec"]["replicas"] = json!(if zero_kept { 0 } else { 1 });
    });
    let settings = settings(|settings| {
        settings.selector = Some("tier=front".parse().unwrap());
        if holds("NamespaceExcluded") {
            settings.excluded_namespaces.insert("shop".into());
        }
        // A minimum that the object is at, whichever number it has.
        if holds("Satisfied") {
            settings.min = object.replicas();
        }
    });
    let namespace = namespace(holds("NamespacePaused"));
    let autoscaler =
        autoscaler(json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}));
    let autoscalers = [Arc::new(autoscaler)];
    let hold = Hold {
        wait: Duration::from_secs(60),
        opponent: Opponent::Unknown,
    };
    let turn = Turn {
        limit: 100,
        wait: Duration::from_secs(1),
    };
    let observed = Observed {
        namespace: Some(&namespace),
        autoscalers: if holds("Autoscaled") {
            &autoscalers
        } else {
            &[]
        },
        fight: holds("Fight").then_some(&hold),
        budget: holds("Budget").then_some(turn),
        ..Observed::new(&object)
    };
    plan(&observed, &settings)
}

#[test]
fn of_all_reasons_that_hold_the_first_in_order_is_reported() {
    for bits in 0..1u32 << 11 {
        let (first, _) = ORDER
            .iter()
            .find(|(_, bit)| *bit == 0 || bits & bit != 0)
            .unwrap();
        let plan = decide_combination(bits);
        assert_eq!(plan.reason().name(), *first, "combination {bits:#013b}");
        assert_eq!(
            matches!(plan, Plan::Raise(_)),
            *first == "Raise",
            "combination {bits:#013b}"
        );
    }
}

/// With `raise-min` the autoscaler's minimum is asked after just before "satisfied", and what
/// holds a raise back holds this one back as well.
#[test]
fn an_autoscalers_minimum_comes_before_satisfied() {
    let decide = |replicas: i32, change: &dyn Fn(&mut Settings), held: (bool, bool)| {
        let object = deployment(|object| object["spec"]["replicas"] = json!(replicas));
        let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        let autoscalers = [Arc::new(autoscaler(web))];
        let hold = Hold {
            wait: Duration::from_secs(60),
            opponent: Opponent::Manager("helm".into()),
        };
        let turn = Turn {
            limit: 100,
            wait: Duration::from_secs(1),
        };
        let observed = Observed {
            autoscalers: &autoscalers,
            fight: held.0.then_some(&hold),
            budget: held.1.then_some(turn),
            ..Observed::new(&object)
        };
        let settings = settings(|settings| {
            settings.hpa = HpaPolicy::RaiseMin;
            change(settings);
        });
        plan(&observed, &settings).reason()
    };
    let none = |_: &mut Settings| {};
    for (replicas, held, expected) in [
        (1, (false, false), "RaiseMin"),
        (9, (false, false), "RaiseMin"),
        (9, (true, true), "Fight"),
        (9, (false, true), "Budget"),
    ] {
        let reason = decide(replicas, &none, held);
        assert_eq!(reason.name(), expected, "{replicas} {held:?}");
        assert_eq!(
            reason.autoscaler(),
            (expected != "Budget").then_some("web-hpa")
        );
    }
    let keep_zero = |settings: &mut Settings| settings.zero = ZeroPolicy::Keep;
    assert_eq!(decide(0, &keep_zero, (true, true)).name(), "ZeroKept");
    let content = |settings: &mut Settings| settings.min = 1;
    assert_eq!(decide(1, &content, (true, true)).name(), "Satisfied");
    let beyond = |settings: &mut Settings| settings.min = 6;
    assert_eq!(decide(9, &beyond, (true, true)).name(), "MinAboveMax");
}

#[test]
fn replicas_are_compared_with_the_minimum() {
    for (replicas, min, raised) in [
        (json!(null), 2, true),
        (json!(0), 2, true),
        (json!(1), 2, true),
        (json!(2), 2, false),
        (json!(3), 2, false),
        (json!(1), 1, false),
        (json!(0), 1, true),
        (json!(4), 5, true),
    ] {
        let object = deployment(|object| object["spec"]["replicas"] = replicas.clone());
        let plan = decide(&object, &settings(|settings| settings.min = min));
        match plan {
            Plan::Raise(raise) => {
                assert!(raised, "{replicas} of {min}");
                assert_eq!((raise.from, raise.to), (object.replicas(), min));
            }
            Plan::Blocked(reason) => panic!("{reason}"),
            Plan::Leave(reason) => {
                assert!(!raised, "{replicas} of {min}");
                assert_eq!(
                    reason,
                    Reason::Satisfied {
                        replicas: object.replicas(),
                        min
                    }
                );
            }
        }
    }
}

#[test]
fn a_raise_carries_what_was_observed() {
    let Plan::Raise(raise) = decide(&deployment(|_| ()), &Settings::default()) else {
        panic!("1 of 2 is below the minimum");
    };
    assert_eq!(raise.key.to_string(), "shop/web");
    assert_eq!(
        (raise.uid.as_str(), raise.resource_version.as_str()),
        ("uid-web", "7")
    );
}

#[test]
fn only_the_exact_value_opts_in() {
    for value in ["True", "TRUE", "1", "yes", "", "true "] {
        let object =
            deployment(|object| object["metadata"]["labels"]["demo/min-replicas"] = json!(value));
        let Plan::Leave(Reason::NotOptedIn { found, .. }) = decide(&object, &Settings::default())
        else {
            panic!("{value:?} opts in");
        };
        assert_eq!(found.as_deref(), Some(value));
    }
}

#[test]
fn another_label_may_opt_in() {
    let settings = settings(|settings| settings.opt_in = "team/keep=yes".parse().unwrap());
    let object = deployment(|object| object["metadata"]["labels"] = json!({"team/keep": "yes"}));
    assert_eq!(decide(&object, &settings).reason().name(), "Raise");
    assert_eq!(
        decide(&deployment(|_| ()), &settings).reason().name(),
        "NotOptedIn"
    );
}

/// C-12: an owner counts if it is the controller, and only then.
#[test]
fn only_a_controlling_owner_keeps_us_away() {
    let csv = |controller: Value| {
        let mut owner = json!({"kind": "ClusterServiceVersion", "name": "op.v1", "uid": "u"});
        if !controller.is_null() {
            owner["controller"] = controller;
        }
        owner
    };
    let foo = json!({"kind": "Foo", "name": "f1", "uid": "u", "controller": true});
    for (case, owners, expected) in [
        ("a", json!([csv(json!(false))]), "Raise"),
        ("b", json!([csv(json!(false)), foo]), "Owned"),
        ("c", json!([csv(json!(null))]), "Raise"),
        ("d", json!(null), "Raise"),
        ("e", json!([csv(json!(false)), csv(json!(false))]), "Raise"),
    ] {
        let object = deployment(|object| object["metadata"]["ownerReferences"] = owners);
        let reason = decide(&object, &Settings::default()).reason();
        assert_eq!(reason.name(), expected, "case {case}");
        if let Reason::Owned { owner } = reason {
            assert_eq!(owner.to_string(), "Foo/f1");
        }
    }
}

#[test]
fn zero_is_raised_unless_someone_wants_it_kept() {
    let keep = json!({"minrep.dev/keep-zero": "true"});
    for (annotations, policy, replicas, expected) in [
        (json!({}), ZeroPolicy::Raise, 0, "Raise"),
        (json!({}), ZeroPolicy::Keep, 0, "ZeroKept"),
        (keep.clone(), ZeroPolicy::Raise, 0, "ZeroKept"),
        (
            json!({"minrep.dev/keep-zero": "yes"}),
            ZeroPolicy::Raise,
            0,
            "Raise",
        ),
        // It is about zero, not about the object.
        (keep, ZeroPolicy::Keep, 1, "Raise"),
    ] {
        let object = deployment(|object| {
            object["metadata"]["annotations"] = annotations;
            object["spec"]["replicas"] = json!(replicas);
        });
        let settings = settings(|settings| settings.zero = policy);
        assert_eq!(decide(&object, &settings).reason().name(), expected);
    }
}

/// C-32: an autoscaler that may never scale is reported as such, not passed over.
#[test]
fn an_autoscaler_keeps_us_away_unless_it_is_ignored() {
    let object = deployment(|_| ());
    let decide = |autoscaler: &HorizontalPodAutoscaler, hpa| {
        let autoscalers = [Arc::new(autoscaler.clone())];
        let observed = Observed {
            autoscalers: &autoscalers,
            ..Observed::new(&object)
        };
        plan(&observed, &settings(|settings| settings.hpa = hpa)).reason()
    };
    let healthy = autoscaler(json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}));
    let odd = autoscaler(json!({"kind": "Deployment", "name": "web"}));
    for (autoscaler, is_odd) in [(&healthy, false), (&odd, true)] {
        let Reason::Autoscaled { by, hindrance } = decide(autoscaler, HpaPolicy::Skip) else {
            panic!("not skipped");
        };
        assert_eq!(by, ScaledBy::HorizontalPodAutoscaler("web-hpa".into()));
        assert_eq!(hindrance.is_some(), is_odd);
        assert_eq!(decide(autoscaler, HpaPolicy::Ignore).name(), "Raise");
    }
}
