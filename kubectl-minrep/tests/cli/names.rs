//! `reconcile once deployment/NAME`.

use insta::{allow_duplicates, assert_snapshot};
use serde_json::json;

use crate::cluster::Cluster;

#[tokio::test]
async fn only_the_named_ones_are_touched() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    cluster.deployment("shop", "cart", 1);
    let command = [
        "reconcile",
        "once",
        "deploy/web",
        "deployments.apps/api",
        "-n",
        "shop",
    ];
    let ended = cluster.minrep(&command).end().await.with_code(0);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/api   scaled from 1 to 2
    shop        deployment.apps/web   scaled from 1 to 2
    ");
    assert_eq!(cluster.replicas("shop", "cart"), 1);
    assert_eq!(cluster.writes().len(), 2);
}

/// Each is read by itself, so their versions come in any order.
#[tokio::test]
async fn none_is_lost_when_the_newest_is_named_first() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 3);
    cluster.deployment("shop", "cart", 1);
    let command = [
        "reconcile",
        "once",
        "deployment",
        "cart",
        "api",
        "web",
        "-n",
        "shop",
        "-o",
        "json",
    ];
    let ended = cluster.minrep(&command).end().await.with_code(0);
    let json = ended.json();
    assert_eq!(json["summary"]["considered"], 3);
    assert_eq!(json["summary"]["raised"], 2);
    assert_eq!(json["summary"]["satisfied"], 1);
}

#[tokio::test]
async fn an_unlabelled_one_is_reported_and_left_alone() {
    let cluster = Cluster::with_web().await;
    cluster.labelled("shop", "db", 1, &json!({"app": "db"}));
    cluster.labelled("shop", "cache", 1, &json!({"demo/min-replicas": "True"}));
    let command = [
        "reconcile",
        "once",
        "deployment",
        "db",
        "cache",
        "-n",
        "shop",
    ];
    let ended = cluster.minrep(&command).end().await.with_code(0);
    assert_eq!(ended.stdout, "");
    assert_snapshot!(ended.talk(), @r#"
    deployment.apps/cache skipped: not opted in: label demo/min-replicas is "True", not "true"
    deployment.apps/db skipped: not opted in: label demo/min-replicas is not set
    Reconciled 2 Deployments in TIME: 0 raised, 0 failed, 2 skipped, 0 already satisfied
    "#);
    assert_eq!(cluster.writes().len(), 0);
}

#[tokio::test]
async fn a_missing_one_is_told_and_the_others_are_raised() {
    let cluster = Cluster::with_web().await;
    let command = [
        "reconcile",
        "once",
        "deployment/web",
        "deployment/nope",
        "-n",
        "shop",
    ];
    let ended = cluster.minrep(&command).end().await.with_code(6);
    assert_snapshot!(ended.talk(), @r#"
    Error from server (NotFound): deployments.apps "nope" not found
    Reconciled 2 Deployments in TIME: 1 raised, 0 failed, 0 skipped, 0 already satisfied, 1 not found
    "#);
    assert_eq!(cluster.replicas("shop", "web"), 2);
    let json = [&command[..], &["-o", "json"]].concat();
    let json = cluster.minrep(&json).end().await.with_code(6).json();
    assert_eq!(json["items"][0]["name"], "nope");
    assert_eq!(json["items"][0]["result"], "NotFound");
    assert_eq!(json["items"][1]["result"], "Satisfied");
    assert_eq!(json["summary"]["notFound"], 1);
}

#[tokio::test]
async fn a_namespace_that_does_not_exist_is_told_with_the_one_that_was_meant() {
    let cluster = Cluster::with_web().await;
    for name in [&[][..], &["deployment/web"]] {
        let command = [&["reconcile", "once", "-n", "shpo"], name].concat();
        let ended = cluster.minrep(&command).end().await.with_code(6);
        assert_eq!(ended.stdout, "");
        allow_duplicates! {
            assert_snapshot!(ended.talk(), @r#"
        error: namespace "shpo" not found

        hint: did you mean "shop"? (`kubectl get ns`)
        "#);
        }
    }
    assert_eq!(cluster.writes().len(), 0);
}

#[tokio::test]
async fn a_namespace_that_cannot_be_one_is_a_mistake() {
    let cluster = Cluster::with_web().await;
    let command = ["reconcile", "once", "-n", "Shop!"];
    let ended = cluster.minrep(&command).end().await.with_code(2);
    assert!(ended.stderr.starts_with("error: "), "{ended:?}");
    assert_eq!(cluster.server.requests().len(), 0);
}
