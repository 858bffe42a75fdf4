//! 403, and what is missing.

use insta::assert_snapshot;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Duration, Instant};

use crate::cluster::Cluster;

/// C-10: rights in the namespace `shop`, and none at cluster scope.
async fn project_member() -> Cluster {
    let cluster = Cluster::with_web().await;
    for (path, resource, group) in [
        ("/apis/apps/v1/deployments", "deployments", "apps"),
        (
            "/apis/autoscaling/v2/horizontalpodautoscalers",
            "horizontalpodautoscalers",
            "autoscaling",
        ),
        ("/api/v1/namespaces", "namespaces", ""),
    ] {
        let kind = if group.is_empty() {
            resource.to_owned()
        } else {
            format!("{resource}.{group}")
        };
        let refuse = Action::status(403).reason("Forbidden").message(format!(
            "{kind} is forbidden: User \"ana\" cannot list resource {resource:?} in API group \
             {group:?} at the cluster scope"
        ));
        cluster.server.faults().add(Rule::new(refuse).path(path));
    }
    cluster
}

/// C-10 (1). Discovery is no right: everybody has it.
#[tokio::test]
async fn rights_in_one_namespace_are_enough_for_it() {
    let cluster = project_member().await;
    cluster
        .minrep(&["reconcile", "once", "-n", "shop"])
        .end()
        .await
        .with_code(0);
    assert_eq!(cluster.replicas("shop", "web"), 2);
    for request in cluster.server.requests() {
        let path = format!("{}/", request.info.path);
        let inside = path.contains("/namespaces/shop/") || path == "/apis/";
        assert!(inside, "{path}");
    }
}

/// C-10 (2).
#[tokio::test]
async fn a_pass_over_all_namespaces_names_the_missing_rule() {
    let cluster = project_member().await;
    let started = Instant::now();
    let ended = cluster
        .minrep(&["reconcile", "once", "-A"])
        .end()
        .await
        .with_code(5);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(ended.stdout, "");
    assert_snapshot!(ended.talk(), @r#"
    Error from server (Forbidden): deployments.apps is forbidden: User "ana" cannot list resource "deployments" in API group "apps" at the cluster scope

    missing: list deployments.apps at cluster scope   (needed by `reconcile once`)
    hint: a cluster admin can grant it with
            kubectl create clusterrole minrep-deployments --verb=get,list,watch --resource=deployments.apps
            kubectl create clusterrolebinding minrep-deployments --clusterrole=minrep-deployments --user=ana
    hint: or with this rule in a ClusterRole
            - apiGroups: ["apps"]
              resources: ["deployments"]
              verbs: ["get", "list", "watch"]
    hint: with rights in one namespace only, pass `-n NAMESPACE`
    "#);
    assert_eq!(cluster.writes().len(), 0);
}

/// C-10 (3).
#[tokio::test]
async fn a_loop_over_all_namespaces_does_not_start() {
    let cluster = project_member().await;
    let ended = cluster.minrep(&["run", "-A"]).end().await.with_code(5);
    assert!(
        ended
            .stderr
            .contains("missing: list deployments.apps at cluster scope   (needed by `run`)"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn autoscalers_that_cannot_be_read_stop_both_commands() {
    let cluster = Cluster::with_web().await;
    let refuse = Action::status(403).reason("Forbidden").message(
        "horizontalpodautoscalers.autoscaling is forbidden: User \"ana\" cannot list resource \
         \"horizontalpodautoscalers\" in API group \"autoscaling\" in the namespace \"shop\"",
    );
    cluster
        .server
        .faults()
        .add(Rule::new(refuse).resource("horizontalpodautoscalers"));
    for command in [
        &["reconcile", "once", "-n", "shop"][..],
        &["run", "-n", "shop"],
    ] {
        let ended = cluster.minrep(command).end().await.with_code(5);
        assert!(ended.stderr.contains("--verb=list,watch"), "{ended:?}");
        assert!(ended.stderr.contains("`--hpa=ignore`"), "{ended:?}");
    }
    assert_eq!(cluster.writes().len(), 0);
    let ignore = ["reconcile", "once", "-n", "shop", "--hpa=ignore"];
    cluster.minrep(&ignore).end().await.with_code(0);
    assert_eq!(cluster.replicas("shop", "web"), 2);
}

#[tokio::test]
async fn a_write_that_is_refused_fails_its_object_and_names_the_rule() {
    let cluster = Cluster::with_web().await;
    let refuse = Action::status(403).reason("Forbidden").message(
        "deployments.apps \"web\" is forbidden: User \"ana\" cannot patch resource \
         \"deployments/scale\" in API group \"apps\" in the namespace \"shop\"",
    );
    cluster
        .server
        .faults()
        .add(Rule::new(refuse).verb(Verb::Patch));
    let ended = cluster
        .minrep(&["reconcile", "once", "-n", "shop"])
        .end()
        .await
        .with_code(7);
    assert_snapshot!(ended.talk(), @r#"
    Error from server (Forbidden): deployments.apps "web" is forbidden: User "ana" cannot patch resource "deployments/scale" in API group "apps" in the namespace "shop" (shop/web)
    missing: patch deployments.apps/scale in namespace shop   (needed by `reconcile once`)
    hint: a cluster admin can grant it with
            kubectl create role minrep-scale -n shop --verb=patch --resource=deployments.apps/scale
            kubectl create rolebinding minrep-scale -n shop --role=minrep-scale --user=ana
    Reconciled 1 Deployment in TIME: 0 raised, 1 failed, 0 skipped, 0 already satisfied
    "#);
}

/// Namespaces that may not be read cost one warning.
#[tokio::test]
async fn namespaces_that_cannot_be_read_are_a_warning() {
    let cluster = Cluster::with_web().await;
    let refuse = Action::status(403)
        .reason("Forbidden")
        .message("namespaces is forbidden");
    cluster
        .server
        .faults()
        .add(Rule::new(refuse).resource("namespaces"));
    let ended = cluster
        .minrep(&["reconcile", "once", "-n", "shop"])
        .end()
        .await
        .with_code(0);
    assert_snapshot!(ended.talk(), @r"
    Warning: namespaces cannot be read, so none is taken for paused: namespaces is forbidden
    Reconciled 1 Deployment in TIME: 1 raised, 0 failed, 0 skipped, 0 already satisfied
    ");
    assert_eq!(cluster.replicas("shop", "web"), 2);
}
