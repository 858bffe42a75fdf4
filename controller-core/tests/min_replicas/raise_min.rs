//! `raise-min`: the autoscaler's minimum is raised, and the Deployment is its business.

use controller_core::controllers::min_replicas::{HpaPolicy, Settings};
use controller_core::worker::{Outcome, ReconcileError};
use serde_json::{Value, json};
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::bed::{Bed, autoscaler};
use crate::fixture::settings;

const RAISED: &str = "minReplicas of HorizontalPodAutoscaler web-hpa raised from 1 to 2";

fn raise_min() -> Settings {
    settings(|settings| settings.hpa = HpaPolicy::RaiseMin)
}

/// `web` at this many replicas, and its autoscaler.
async fn bed(replicas: i32, change: impl FnOnce(&mut Value)) -> Bed {
    let mut bed = Bed::start(raise_min()).await;
    bed.seed("web", |object| object["spec"]["replicas"] = json!(replicas));
    bed.seed_autoscaler("web-hpa", change);
    bed
}

fn autoscaler_writes(action: impl Into<Action>) -> Rule {
    Rule::new(action)
        .verb(Verb::Patch)
        .resource("horizontalpodautoscalers")
}

#[tokio::test]
async fn a_raise_is_one_guarded_patch_of_the_autoscaler() {
    let bed = bed(1, |_| ()).await;
    let stored = bed
        .server
        .object("horizontalpodautoscalers", "shop", "web-hpa")
        .unwrap();
    assert_eq!(bed.settle_web().await, RAISED);
    assert_eq!(
        (bed.min_replicas(), bed.replicas("web")),
        (json!(2), Some(1))
    );
    assert_eq!(bed.exchange(), ["GET web 200", "PATCH web-hpa 200"]);
    let patch = &bed.patches()[0];
    let expected = format!(
        r#"{{"metadata":{{"uid":{},"resourceVersion":{}}},"spec":{{"minReplicas":2}}}}"#,
        stored["metadata"]["uid"], stored["metadata"]["resourceVersion"],
    );
    assert_eq!(std::str::from_utf8(&patch.body).unwrap(), expected);
    assert_eq!(patch.info.query("fieldManager"), Some("minrep"));
}

/// Its replicas are the autoscaler's of this moment, its minimum is for good.
#[tokio::test]
async fn the_minimum_is_raised_whatever_the_deployment_has() {
    for replicas in [0, 1, 2, 10] {
        let bed = bed(replicas, |_| ()).await;
        assert_eq!(bed.settle_web().await, RAISED, "{replicas}");
        assert_eq!(bed.replicas("web"), Some(i64::from(replicas)));
    }
}

/// C-31: `api`.
#[tokio::test]
async fn an_absent_minimum_is_one() {
    let bed = bed(1, |object| {
        object["spec"]
            .as_object_mut()
            .unwrap()
            .remove("minReplicas");
    })
    .await;
    assert_eq!(bed.settle_web().await, RAISED);
}

/// C-31: `cart`.
#[tokio::test]
async fn a_minimum_that_is_high_enough_is_left_alone() {
    let min_of_three = |object: &mut Value| object["spec"]["minReplicas"] = json!(3);
    let satisfied = bed(3, min_of_three).await;
    assert_eq!(
        satisfied.settle_web().await,
        "already satisfies the minimum of 2 (3 replicas)"
    );
    // The autoscaler is about to raise it.
    let below = bed(1, min_of_three).await;
    assert_eq!(
        below.settle_web().await,
        "skipped: autoscaled by HorizontalPodAutoscaler web-hpa"
    );
    for bed in [satisfied, below] {
        assert!(bed.exchange().is_empty());
    }
}

/// C-31: `web`. Nothing is tried, and nothing is tried again.
#[tokio::test]
async fn a_minimum_above_the_maximum_is_a_failure_and_no_write() {
    let bed = bed(1, |object| object["spec"]["maxReplicas"] = json!(1)).await;
    for _ in 0..3 {
        let error = bed.reconcile_web().await.unwrap_err();
        assert!(matches!(error, ReconcileError::Terminal(_)), "{error:?}");
    }
    assert_eq!(
        bed.reports.take()[0],
        "minReplicas of HorizontalPodAutoscaler web-hpa cannot be raised from 1 to 2: \
         HPA allows at most 1, minimum is 2"
    );
    assert!(bed.exchange().is_empty());
}

#[tokio::test]
async fn a_maximum_that_is_the_minimum_is_enough() {
    let bed = bed(1, |object| object["spec"]["maxReplicas"] = json!(2)).await;
    bed.settle_web().await;
    assert_eq!(bed.min_replicas(), json!(2));
}

#[tokio::test]
async fn the_deployments_own_minimum_counts_here_too() {
    let mut bed = Bed::start(raise_min()).await;
    bed.seed("web", |object| {
        object["metadata"]["annotations"] = json!({"minrep.dev/min": "4"});
    });
    bed.seed_autoscaler("web-hpa", |_| ());
    bed.settle_web().await;
    assert_eq!(bed.min_replicas(), json!(4));
}

/// KEDA makes autoscalers, and puts them back.
#[tokio::test]
async fn an_autoscaler_with_a_controlling_owner_is_left_alone() {
    let bed = bed(1, |object| {
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "web",
            "uid": "x", "controller": true,
        }]);
    })
    .await;
    assert_eq!(
        bed.settle_web().await,
        "skipped: autoscaled by HorizontalPodAutoscaler web-hpa, whose minimum ScaledObject/web \
         decides"
    );
    assert!(bed.exchange().is_empty());
}

#[tokio::test]
async fn a_scaled_object_keeps_us_away_under_both_policies() {
    for policy in [HpaPolicy::Skip, HpaPolicy::RaiseMin] {
        let mut bed = Bed::start(settings(|settings| settings.hpa = policy)).await;
        bed.seed("web", |_| ());
        bed.seed_autoscaler("web-hpa", |_| ());
        for (name, target) in [
            ("a-other", json!({"name": "api"})),
            ("stateful", json!({"kind": "StatefulSet", "name": "web"})),
            ("web", json!({"name": "web"})),
        ] {
            bed.observe_scaled_object(name, &target);
        }
        assert_eq!(
            bed.settle_web().await,
            "skipped: autoscaled by ScaledObject web"
        );
        assert!(bed.exchange().is_empty());
    }
}

#[tokio::test]
async fn of_several_autoscalers_none_is_written() {
    let mut bed = bed(1, |_| ()).await;
    bed.seed_autoscaler("web-cpu", |_| ());
    let verdict = bed.settle("web").await;
    assert_eq!(
        verdict.to_string(),
        "skipped: autoscaled by HorizontalPodAutoscaler web-cpu and web-hpa at once, so it is \
         not clear whose minimum to raise"
    );
    assert!(verdict.reason.is_warning());
    assert!(bed.exchange().is_empty());
}

/// C-32.
#[tokio::test]
async fn an_autoscaler_that_may_never_scale_is_not_relied_upon() {
    for (api_version, words) in [
        (json!(null), "no apiVersion"),
        (
            json!("extensions/v1beta1"),
            r#"apiVersion "extensions/v1beta1""#,
        ),
    ] {
        let bed = bed(1, |object| {
            object["spec"]["scaleTargetRef"]["apiVersion"] = api_version;
        })
        .await;
        let verdict = bed.settle("web").await;
        let said = verdict.to_string();
        assert!(said.contains("web-hpa") && said.contains(words), "{said}");
        assert!(verdict.reason.is_warning());
        assert!(bed.exchange().is_empty());
    }
}

/// The cache says 1 to 5, the server has 4 to 8.
#[tokio::test]
async fn an_old_cache_never_lowers_a_minimum() {
    let bed = bed(1, |_| ()).await;
    change_autoscaler(&bed, |object| {
        object["spec"]["minReplicas"] = json!(4);
        object["spec"]["maxReplicas"] = json!(8);
    });
    assert_eq!(
        bed.settle_web().await,
        "skipped: autoscaled by HorizontalPodAutoscaler web-hpa"
    );
    assert_eq!(bed.min_replicas(), json!(4));
    assert_eq!(
        bed.exchange(),
        [
            "GET web 200",
            "PATCH web-hpa 409",
            "GET web 200",
            "GET web-hpa 200"
        ]
    );
}

#[tokio::test]
async fn whatever_changed_meanwhile_is_decided_anew() {
    let moved = json!({"spec": {"scaleTargetRef": {"name": "api"}}});
    let touched = json!({"status": {"currentReplicas": 1}});
    let capped = json!({"spec": {"maxReplicas": 1}});
    for (change, expected) in [
        // Nobody autoscales it any more.
        (moved, "scaled from 1 to 2"),
        (touched, RAISED),
        (
            capped,
            "minReplicas of HorizontalPodAutoscaler web-hpa cannot be raised from 1 to 2: \
             HPA allows at most 1, minimum is 2",
        ),
    ] {
        let bed = bed(1, |_| ()).await;
        change_autoscaler(&bed, |object| merge(object, &change));
        assert_eq!(bed.settle_web().await, expected);
        assert_eq!(bed.exchange()[1], "PATCH web-hpa 409");
    }
}

/// A real server answers 422, and not 409, to a wrong uid of the object itself.
#[tokio::test]
async fn an_autoscaler_that_was_made_again_is_another_one() {
    for code in [409, 422] {
        let bed = bed(1, |_| ()).await;
        bed.server
            .remove("horizontalpodautoscalers", "shop", "web-hpa");
        bed.server.seed(autoscaler("web-hpa", |_| ()));
        bed.faults()
            .add(autoscaler_writes(Action::status(code)).attempts(1));
        assert_eq!(bed.settle_web().await, RAISED, "{code}");
        assert_eq!(bed.patches().len(), 2);
    }
}

#[tokio::test]
async fn without_its_autoscaler_the_deployment_is_raised_itself() {
    let bed = bed(1, |_| ()).await;
    bed.server
        .remove("horizontalpodautoscalers", "shop", "web-hpa");
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
    assert_eq!(bed.patches().len(), 2);
}

/// The write names the autoscaler alone, so that the server would not notice.
#[tokio::test]
async fn whatever_happened_to_the_deployment_meanwhile_counts() {
    for (change, expected, min) in [
        (json!({"labels": null}), "no longer opted in", 1),
        (
            json!({"labels": {"demo/min-replicas": "off"}}),
            r#"skipped: not opted in: label demo/min-replicas is "off", not "true""#,
            1,
        ),
        (
            json!({
                "deletionTimestamp": "2026-01-01T00:00:00Z",
                "finalizers": ["foregroundDeletion"],
            }),
            "skipped: being deleted",
            1,
        ),
        (
            json!({"annotations": {"minrep.dev/min": "4"}}),
            "minReplicas of HorizontalPodAutoscaler web-hpa raised from 1 to 4",
            4,
        ),
        (json!({"annotations": {"touched": "yes"}}), RAISED, 2),
    ] {
        let bed = bed(1, |_| ()).await;
        bed.meanwhile(|object| merge(&mut object["metadata"], &change));
        assert_eq!(bed.settle_web().await, expected);
        assert_eq!(bed.min_replicas(), json!(min), "{expected}");
        // Once, and not once more for what it brought.
        let rest = if min == 1 {
            vec![]
        } else {
            vec!["PATCH web-hpa 200"]
        };
        assert_eq!(bed.exchange(), [vec!["GET web 200"], rest].concat());
    }
}

#[tokio::test]
async fn a_deployment_that_is_gone_leaves_its_autoscaler_alone() {
    let bed = bed(1, |_| ()).await;
    bed.server.remove("deployments", "shop", "web");
    assert_eq!(bed.settle_web().await, "no longer exists");
    assert_eq!((bed.min_replicas(), bed.patches().len()), (json!(1), 0));
}

/// Whether it is opted in still, nobody knows.
#[tokio::test]
async fn a_deployment_that_cannot_be_read_leaves_its_autoscaler_alone() {
    let bed = bed(1, |_| ()).await;
    let away = Action::status(500).message("etcd is away");
    bed.faults()
        .add(Rule::new(away).verb(Verb::Get).attempts(1));
    let error = bed.reconcile_web().await.unwrap_err();
    assert!(matches!(error, ReconcileError::Transient(_)), "{error:?}");
    assert_eq!(
        bed.reports.take(),
        [
            "minReplicas of HorizontalPodAutoscaler web-hpa could not be raised from 1 to 2: \
          etcd is away"
        ]
    );
    assert!(bed.patches().is_empty());
}

/// The cache has the old one, the server another one: of another name, or the old one pointed
/// elsewhere. Nobody raises the Deployment beside it.
#[tokio::test]
async fn an_autoscaler_that_took_the_place_of_another_is_found() {
    let elsewhere = json!({"spec": {"scaleTargetRef": {"name": "api"}}});
    for moved in [false, true] {
        let bed = bed(1, |_| ()).await;
        if moved {
            change_autoscaler(&bed, |object| merge(object, &elsewhere));
        } else {
            bed.server
                .remove("horizontalpodautoscalers", "shop", "web-hpa");
        }
        bed.server.seed(autoscaler("web-cpu", |_| ()));
        bed.server.seed(autoscaler("of-another", |object| {
            object["spec"]["scaleTargetRef"]["name"] = json!("cart");
        }));
        assert_eq!(
            bed.settle_web().await,
            "minReplicas of HorizontalPodAutoscaler web-cpu raised from 1 to 2",
            "{moved}"
        );
        assert_eq!(bed.replicas("web"), Some(1));
        assert_eq!(
            bed.exchange(),
            [
                "GET web 200",
                if moved {
                    "PATCH web-hpa 409"
                } else {
                    "PATCH web-hpa 404"
                },
                "GET web 200",
                "GET web-hpa 200",
                "GET  200",
                "PATCH web-cpu 200",
            ]
        );
    }
}

#[tokio::test]
async fn endless_conflicts_put_the_key_back_into_the_queue() {
    let bed = bed(1, |_| ()).await;
    bed.faults().add(autoscaler_writes(Action::status(409)));
    let error = bed.reconcile_web().await.unwrap_err();
    assert!(matches!(error, ReconcileError::Transient(_)));
    assert_eq!(
        bed.reports.take(),
        [
            "minReplicas of HorizontalPodAutoscaler web-hpa could not be raised from 1 to 2: \
             it changed during each of 4 tries"
        ]
    );
    assert_eq!(bed.patches().len(), 4);
}

#[tokio::test]
async fn a_lost_answer_of_an_applied_write_is_a_raise() {
    let bed = bed(1, |_| ()).await;
    bed.faults()
        .add(autoscaler_writes(Action::LostAnswer).attempts(1));
    assert_eq!(bed.settle_web().await, RAISED);
    assert_eq!((bed.patches().len(), bed.min_replicas()), (1, json!(2)));
}

#[tokio::test]
async fn a_refusal_is_told_in_the_servers_words() {
    let bed = bed(1, |_| ()).await;
    let refuse = Action::status(403).message("you may not patch it");
    bed.faults().add(autoscaler_writes(refuse));
    assert_eq!(
        bed.settle_web().await,
        "minReplicas of HorizontalPodAutoscaler web-hpa could not be raised from 1 to 2: \
         you may not patch it"
    );
    assert_eq!(bed.patches().len(), 1);
}

/// In either version: it is one object, and it is the newer one that is read and written.
#[tokio::test]
async fn an_autoscaler_of_the_old_version_is_raised_alike() {
    let bed = bed(1, |object| {
        object["apiVersion"] = json!("autoscaling/v1");
        object["spec"]["targetCPUUtilizationPercentage"] = json!(80);
    })
    .await;
    assert_eq!(bed.settle_web().await, RAISED);
    let stored = bed
        .server
        .object("horizontalpodautoscalers", "shop", "web-hpa")
        .unwrap();
    assert_eq!(stored["spec"]["metrics"][0]["resource"]["name"], "cpu");
}

#[tokio::test]
async fn a_raise_that_lasts_is_done() {
    let bed = bed(1, |_| ()).await;
    assert_eq!(bed.reconcile_web().await.unwrap(), Outcome::Done);
}

fn change_autoscaler(bed: &Bed, change: impl FnOnce(&mut Value)) {
    let there = bed
        .server
        .mutate("horizontalpodautoscalers", "shop", "web-hpa", change);
    assert!(there);
}

fn merge(object: &mut Value, change: &Value) {
    match (object, change) {
        (Value::Object(object), Value::Object(change)) => {
            for (name, value) in change {
                if value.is_null() {
                    object.remove(name);
                    continue;
                }
                merge(object.entry(name.clone()).or_insert(json!({})), value);
            }
        }
        (object, change) => *object = change.clone(),
    }
}
