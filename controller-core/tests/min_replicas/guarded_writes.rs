//! What is written, and what is done when the object is not the one that was looked at.

use controller_core::controllers::min_replicas::{Effect, Failure, Settings};
use controller_core::worker::ReconcileError;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::bed::{Bed, deployment};

fn scale_writes(action: impl Into<Action>) -> Rule {
    Rule::new(action)
        .verb(Verb::Patch)
        .resource("deployments/scale")
}

#[tokio::test]
async fn a_raise_is_one_guarded_patch_of_the_scale() {
    let bed = Bed::with_web().await;
    let stored = bed.server.object("deployments", "shop", "web").unwrap();
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
    assert_eq!(bed.replicas("web"), Some(2));
    assert_eq!(bed.exchange(), ["PATCH web/scale 200"]);
    let patch = &bed.patches()[0];
    let expected = format!(
        r#"{{"metadata":{{"uid":{},"resourceVersion":{}}},"spec":{{"replicas":2}}}}"#,
        stored["metadata"]["uid"], stored["metadata"]["resourceVersion"],
    );
    assert_eq!(std::str::from_utf8(&patch.body).unwrap(), expected);
    assert_eq!(patch.info.query("fieldManager"), Some("minrep"));
    assert_eq!(patch.info.query("dryRun"), None);
    assert_eq!(
        patch.headers["content-type"],
        "application/merge-patch+json"
    );
}

#[tokio::test]
async fn a_satisfied_deployment_causes_no_request() {
    let mut bed = Bed::start(Settings::default()).await;
    bed.seed("web", |object| object["spec"]["replicas"] = json!(3));
    assert_eq!(
        bed.settle_web().await,
        "already satisfies the minimum of 2 (3 replicas)"
    );
    assert!(bed.exchange().is_empty());
}

/// The unforgivable one: the cache says 1, the server has 10.
#[tokio::test]
async fn an_old_cache_never_scales_down() {
    let bed = Bed::with_web().await;
    bed.meanwhile(|object| object["spec"]["replicas"] = json!(10));
    assert_eq!(
        bed.settle_web().await,
        "already satisfies the minimum of 2 (10 replicas)"
    );
    assert_eq!(bed.replicas("web"), Some(10));
    assert_eq!(bed.exchange(), ["PATCH web/scale 409", "GET web 200"]);
}

/// C-22: who loses a race has nothing left to do.
#[tokio::test]
async fn the_loser_of_a_race_finds_it_satisfied() {
    let bed = Bed::with_web().await;
    bed.meanwhile(|object| object["spec"]["replicas"] = json!(2));
    assert_eq!(
        bed.settle_web().await,
        "already satisfies the minimum of 2 (2 replicas)"
    );
}

#[tokio::test]
async fn whatever_changed_meanwhile_is_decided_anew() {
    for (change, expected) in [
        (
            json!({"metadata": {"labels": {"demo/min-replicas": null}}}),
            "no longer opted in",
        ),
        (
            json!({"metadata": {"labels": {"demo/min-replicas": "off"}}}),
            r#"skipped: not opted in: label demo/min-replicas is "off", not "true""#,
        ),
        (
            json!({"metadata": {"ownerReferences": [
                {"apiVersion": "v1", "kind": "Foo", "name": "f1", "uid": "x", "controller": true},
            ]}}),
            "skipped: owned by Foo/f1, which decides its replicas",
        ),
        (
            json!({"metadata": {
                "deletionTimestamp": "2026-01-01T00:00:00Z",
                "finalizers": ["foregroundDeletion"],
            }}),
            "skipped: being deleted",
        ),
    ] {
        let bed = Bed::with_web().await;
        bed.meanwhile(|object| json_merge(object, &change));
        assert_eq!(bed.settle_web().await, expected);
        assert_eq!(bed.replicas("web"), Some(1), "{expected}");
        assert_eq!(bed.exchange(), ["PATCH web/scale 409", "GET web 200"]);
    }
}

#[tokio::test]
async fn a_touched_object_is_raised_under_its_new_version() {
    let bed = Bed::with_web().await;
    bed.meanwhile(|object| object["status"]["observedGeneration"] = json!(7));
    let now = bed.server.object("deployments", "shop", "web").unwrap();
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
    assert_eq!(
        bed.exchange(),
        ["PATCH web/scale 409", "GET web 200", "PATCH web/scale 200"]
    );
    let guard = &bed.patches()[1].json()["metadata"];
    assert_eq!(guard["resourceVersion"], now["metadata"]["resourceVersion"]);
}

#[tokio::test]
async fn a_deployment_that_went_meanwhile_no_longer_exists() {
    let bed = Bed::with_web().await;
    bed.server.remove("deployments", "shop", "web");
    assert_eq!(bed.settle_web().await, "no longer exists");
    assert_eq!(bed.exchange(), ["PATCH web/scale 404", "GET web 404"]);
}

#[tokio::test]
async fn a_recreated_deployment_is_another_one() {
    for (label, expected, replicas) in [
        (json!("true"), "scaled from 1 to 2", 2),
        (json!(null), "no longer opted in", 1),
    ] {
        let bed = Bed::with_web().await;
        let old = bed.server.object("deployments", "shop", "web").unwrap();
        bed.server.remove("deployments", "shop", "web");
        let new = bed.server.seed(deployment("web", |object| {
            object["metadata"]["labels"] = json!({"demo/min-replicas": label});
            if label.is_null() {
                object["metadata"]["labels"] = json!({});
            }
        }));
        assert_ne!(old["metadata"]["uid"], new["metadata"]["uid"]);
        assert_eq!(bed.settle_web().await, expected);
        assert_eq!(bed.replicas("web"), Some(replicas));
        if let [_, again] = &bed.patches()[..] {
            assert_eq!(again.json()["metadata"]["uid"], new["metadata"]["uid"]);
        }
    }
}

#[tokio::test]
async fn three_conflicts_are_got_over() {
    let bed = Bed::with_web().await;
    bed.faults()
        .add(scale_writes(Action::status(409)).attempts(1..=3));
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
    assert_eq!(bed.patches().len(), 4);
}

#[tokio::test]
async fn endless_conflicts_put_the_key_back_into_the_queue() {
    let bed = Bed::with_web().await;
    bed.faults().add(scale_writes(Action::status(409)));
    let error = bed.reconcile_web().await.unwrap_err();
    assert!(matches!(error, ReconcileError::Transient(_)), "{error:?}");
    assert_eq!(
        bed.reports.take(),
        ["could not be raised from 1 to 2: it changed during each of 4 tries"]
    );
    assert_eq!(bed.patches().len(), 4);
}

/// A 409 says that it changed; if nobody can say how, the failed read is the failure.
#[tokio::test]
async fn a_conflict_that_cannot_be_looked_into_reports_the_read() {
    let bed = Bed::with_web().await;
    bed.faults().add(scale_writes(Action::status(409)));
    bed.faults().add(
        Rule::new(Action::status(403).message("you may not look"))
            .verb(Verb::Get)
            .resource("deployments"),
    );
    let verdict = bed.settle("web").await;
    assert_eq!(
        verdict.to_string(),
        "could not be raised from 1 to 2: you may not look"
    );
    let Effect::Failed(Failure::Api(error)) = &verdict.effect else {
        panic!("{verdict:?}");
    };
    assert!(error.is_forbidden());
}

fn json_merge(object: &mut serde_json::Value, change: &serde_json::Value) {
    match (object, change) {
        (serde_json::Value::Object(object), serde_json::Value::Object(change)) => {
            for (name, value) in change {
                if value.is_null() {
                    object.remove(name);
                } else {
                    json_merge(
                        object.entry(name.clone()).or_insert_with(|| json!({})),
                        value,
                    );
                }
            }
        }
        (object, change) => *object = change.clone(),
    }
}
