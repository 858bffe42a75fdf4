use controller_core::client::ObjectKey;
use insta::assert_snapshot;

use super::*;
use crate::out::sample::*;

/// The shape is a promise: who changes this snapshot other than by adding a field breaks
/// somebody's script.
#[test]
fn every_considered_object_is_an_item() {
    let mut pass = pass(vec![
        failed("api", forbidden("api")),
        failed("cart", timed_out()),
        not_opted_in("db", Some("True")),
        satisfied("queue"),
        raised("web", 1),
    ]);
    pass.missing = vec![ObjectKey::namespaced("shop", "nope")];
    pass.warnings = vec!["namespaces cannot be read, so none is taken for paused".into()];
    assert_snapshot!(json_document(&pass).unwrap(), @r#"
    {
      "apiVersion": "minrep.dev/v1alpha1",
      "kind": "ReconcileReport",
      "items": [
        {
          "apiVersion": "apps/v1",
          "kind": "Deployment",
          "namespace": "shop",
          "name": "api",
          "uid": "uid-api",
          "result": "Failed",
          "reason": "Raise",
          "message": "could not be raised from 1 to 2: deployments.apps \"api\" is forbidden: User \"ana\" cannot patch resource \"deployments/scale\" in API group \"apps\" in the namespace \"shop\"",
          "replicas": {
            "from": 1,
            "to": 2
          },
          "error": {
            "code": 403,
            "reason": "Forbidden",
            "message": "deployments.apps \"api\" is forbidden: User \"ana\" cannot patch resource \"deployments/scale\" in API group \"apps\" in the namespace \"shop\""
          }
        },
        {
          "apiVersion": "apps/v1",
          "kind": "Deployment",
          "namespace": "shop",
          "name": "cart",
          "uid": "uid-cart",
          "result": "Failed",
          "reason": "Raise",
          "message": "could not be raised from 1 to 2: timed out after 30s waiting for PATCH /apis/apps/v1/namespaces/shop/deployments/api/scale",
          "replicas": {
            "from": 1,
            "to": 2
          },
          "error": {
            "reason": "Timeout",
            "message": "timed out after 30s waiting for PATCH /apis/apps/v1/namespaces/shop/deployments/api/scale"
          }
        },
        {
          "apiVersion": "apps/v1",
          "kind": "Deployment",
          "namespace": "shop",
          "name": "db",
          "uid": "uid-db",
          "result": "Skipped",
          "reason": "NotOptedIn",
          "message": "skipped: not opted in: label demo/min-replicas is \"True\", not \"true\""
        },
        {
          "apiVersion": "apps/v1",
          "kind": "Deployment",
          "namespace": "shop",
          "name": "nope",
          "result": "NotFound",
          "reason": "NotFound",
          "message": "deployments.apps \"nope\" not found"
        },
        {
          "apiVersion": "apps/v1",
          "kind": "Deployment",
          "namespace": "shop",
          "name": "queue",
          "uid": "uid-queue",
          "result": "Satisfied",
          "reason": "Satisfied",
          "message": "already satisfies the minimum of 2 (3 replicas)"
        },
        {
          "apiVersion": "apps/v1",
          "kind": "Deployment",
          "namespace": "shop",
          "name": "web",
          "uid": "uid-web",
          "result": "Raised",
          "reason": "Raise",
          "message": "scaled from 1 to 2",
          "replicas": {
            "from": 1,
            "to": 2
          }
        }
      ],
      "summary": {
        "dryRun": "none",
        "interrupted": false,
        "timedOut": false,
        "durationSeconds": 3.149,
        "planned": 3,
        "considered": 6,
        "raised": 1,
        "wouldRaise": 0,
        "failed": 2,
        "skipped": 1,
        "satisfied": 1,
        "notFound": 1,
        "notSent": 0,
        "withheld": 0,
        "notLookedAt": 0,
        "unanswered": 0,
        "warnings": [
          "namespaces cannot be read, so none is taken for paused"
        ]
      }
    }
    "#);
}

#[test]
fn a_dry_run_says_what_would_happen() {
    let mut pass = pass(vec![would_raise("web", DryRun::Server)]);
    pass.dry_run = DryRun::Server;
    pass.interrupted = true;
    assert_snapshot!(json_document(&pass).unwrap(), @r#"
    {
      "apiVersion": "minrep.dev/v1alpha1",
      "kind": "ReconcileReport",
      "items": [
        {
          "apiVersion": "apps/v1",
          "kind": "Deployment",
          "namespace": "shop",
          "name": "web",
          "uid": "uid-web",
          "result": "WouldRaise",
          "reason": "Raise",
          "message": "would be scaled from 1 to 2 (server dry run)",
          "replicas": {
            "from": 1,
            "to": 2
          }
        }
      ],
      "summary": {
        "dryRun": "server",
        "interrupted": true,
        "timedOut": false,
        "durationSeconds": 3.149,
        "planned": 1,
        "considered": 1,
        "raised": 0,
        "wouldRaise": 1,
        "failed": 0,
        "skipped": 0,
        "satisfied": 0,
        "notFound": 0,
        "notSent": 0,
        "withheld": 0,
        "notLookedAt": 0,
        "unanswered": 0,
        "warnings": []
      }
    }
    "#);
}

#[test]
fn an_empty_pass_is_a_document_too() {
    let value: serde_json::Value =
        serde_json::from_str(&json_document(&pass(Vec::new())).unwrap()).unwrap();
    assert_eq!(value["items"], serde_json::json!([]));
    assert_eq!(value["summary"]["warnings"], serde_json::json!([]));
}

/// JSON has its own escapes: programs get the text as it is.
#[test]
fn control_characters_are_escaped_by_json_alone() {
    let mut evil = raised("web", 1);
    evil.key = ObjectKey::namespaced("shop", "web\x1b[2J\n");
    let text = json_document(&pass(vec![evil])).unwrap();
    assert!(!text.contains('\x1b'));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["items"][0]["name"], "web\x1b[2J\n");
}
