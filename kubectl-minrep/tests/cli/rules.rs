//! The corners of the rule, as a person meets them.

use insta::assert_snapshot;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::cluster::Cluster;

const ONCE: [&str; 4] = ["reconcile", "once", "-n", "shop"];

fn once(more: &[&'static str]) -> Vec<&'static str> {
    [&ONCE[..], more].concat()
}

fn autoscaler(cluster: &Cluster, target: &str, min: Option<i32>, max: i32) {
    let mut spec = json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target},
        "maxReplicas": max,
    });
    if let Some(min) = min {
        spec["minReplicas"] = min.into();
    }
    cluster.server.seed(json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": format!("{target}-hpa"), "namespace": "shop"},
        "spec": spec,
    }));
}

fn annotate(cluster: &Cluster, name: &str, min: &str) {
    cluster
        .server
        .mutate("deployments", "shop", name, |object| {
            object["metadata"]["annotations"] = json!({"minrep.dev/min": min});
        });
}

/// C-31.
async fn three_autoscalers() -> Cluster {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    cluster.deployment("shop", "cart", 3);
    autoscaler(&cluster, "web", Some(1), 1);
    autoscaler(&cluster, "api", None, 5);
    autoscaler(&cluster, "cart", Some(3), 5);
    cluster
}

/// C-31.
#[tokio::test]
async fn minimums_of_autoscalers_are_raised_within_their_maximum() {
    let cluster = three_autoscalers().await;
    let command = once(&["--hpa=raise-min"]);
    let ended = cluster.minrep(&command).end().await.with_code(7);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/api   minReplicas of HorizontalPodAutoscaler api-hpa raised from 1 to 2
    shop        deployment.apps/web   minReplicas of HorizontalPodAutoscaler web-hpa cannot be raised from 1 to 2 (MinAboveMax)
    ");
    assert_snapshot!(ended.talk(), @r"
    error: HPA allows at most 1, minimum is 2 (shop/web)
    hint: raise `spec.maxReplicas` of the HorizontalPodAutoscaler, or lower the minimum by the annotation minrep.dev/min
    Reconciled 3 Deployments in TIME: 1 raised, 1 failed, 0 skipped, 1 already satisfied
    ");
    let writes = cluster.writes();
    assert_eq!(writes.len(), 1);
    assert!(writes[0].is_about("horizontalpodautoscalers"));
    for (name, replicas) in [("web", 1), ("api", 1), ("cart", 3)] {
        assert_eq!(cluster.replicas("shop", name), replicas);
    }
}

#[tokio::test]
async fn json_tells_whose_number_it_is() {
    let cluster = three_autoscalers().await;
    let command = once(&["--hpa=raise-min", "-o", "json"]);
    let json = cluster.minrep(&command).end().await.with_code(7).json();
    let items = json["items"].as_array().unwrap();
    let field = |at: usize, field: &str| items[at][field].clone();
    assert_eq!(field(0, "reason"), "RaiseMin");
    assert_eq!(field(0, "minReplicas"), json!({"from": 1, "to": 2}));
    assert_eq!(field(0, "replicas"), Value::Null);
    assert_eq!(
        field(0, "autoscaler"),
        json!({"kind": "HorizontalPodAutoscaler", "name": "api-hpa"})
    );
    assert_eq!(field(1, "autoscaler"), Value::Null);
    assert_eq!(field(2, "reason"), "MinAboveMax");
    assert_eq!(
        field(2, "error"),
        json!({"reason": "MinAboveMax", "message": "HPA allows at most 1, minimum is 2"})
    );
}

#[tokio::test]
async fn a_dry_run_says_what_an_autoscaler_would_get() {
    let cluster = Cluster::with_web().await;
    autoscaler(&cluster, "web", None, 5);
    for (flag, words) in [
        ("--dry-run=client", "(dry run)"),
        ("--dry-run=server", "(server dry run)"),
    ] {
        let command = once(&["--hpa=raise-min", flag]);
        let ended = cluster.minrep(&command).end().await.with_code(0);
        let expected = "minReplicas of HorizontalPodAutoscaler web-hpa would be raised from 1 to 2";
        assert!(
            ended.stdout.contains(&format!("{expected} {words}")),
            "{ended:?}"
        );
    }
    let hpa = cluster
        .server
        .object("horizontalpodautoscalers", "shop", "web-hpa");
    assert_eq!(hpa.unwrap()["spec"]["minReplicas"], Value::Null);
}

/// C-32: it stays at 1, and not in silence.
#[tokio::test]
async fn an_autoscaler_that_may_never_scale_is_a_warning() {
    let cluster = Cluster::with_web().await;
    autoscaler(&cluster, "web", Some(1), 5);
    cluster
        .server
        .mutate("horizontalpodautoscalers", "shop", "web-hpa", |object| {
            let target = object["spec"]["scaleTargetRef"].as_object_mut();
            target.unwrap().remove("apiVersion");
        });
    for policy in ["--hpa=skip", "--hpa=raise-min"] {
        let ended = cluster.minrep(&once(&[policy])).end().await.with_code(0);
        let warning = "Warning: deployment.apps/web (shop/web) skipped: targeted by \
                       HorizontalPodAutoscaler web-hpa, which may never scale it";
        assert!(ended.stderr.contains(warning), "{ended:?}");
    }
    assert_eq!(cluster.writes().len(), 0);
}

/// C-29.
#[tokio::test]
async fn a_server_that_keeps_the_old_number_is_a_failure() {
    let cluster = Cluster::with_web().await;
    let scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {"name": "web", "namespace": "shop", "resourceVersion": "111"},
        "spec": {"replicas": 1}, "status": {"replicas": 1},
    });
    let kept = Action::status(200).body(
        http::HeaderValue::from_static("application/json"),
        scale.to_string(),
    );
    cluster
        .server
        .faults()
        .add(Rule::new(kept).verb(Verb::Patch));
    for more in [&[][..], &["--dry-run=server"]] {
        let ended = cluster.minrep(&once(more)).end().await.with_code(7);
        assert!(!ended.stdout.contains("scaled from"), "{ended:?}");
        assert!(
            ended
                .stderr
                .contains("error: the server kept 1 although 2 was asked (shop/web)"),
            "{ended:?}"
        );
    }
    assert_eq!(cluster.writes().len(), 2);
}

/// C-11: counted as skipped, and no failure.
#[tokio::test]
async fn one_that_is_being_deleted_is_skipped() {
    let cluster = Cluster::with_web().await;
    cluster
        .server
        .mutate("deployments", "shop", "web", |object| {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            object["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
        });
    let ended = cluster.minrep(&ONCE).end().await.with_code(0);
    assert_snapshot!(ended.talk(), @r"
    No Deployment needs a change in shop namespace.
    Skipped: 1 BeingDeleted (`-o json` names them)
    Reconciled 1 Deployment in TIME: 0 raised, 0 failed, 1 skipped, 0 already satisfied
    ");
    assert_eq!(cluster.writes().len(), 0);
}

#[tokio::test]
async fn more_changes_than_allowed_are_none_and_exit_1() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    cluster.deployment("shop", "cart", 3);
    let ended = cluster
        .minrep(&once(&["--max-changes=1"]))
        .end()
        .await
        .with_code(1);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/api   not raised from 1 to 2: more changes than are allowed
    shop        deployment.apps/web   not raised from 1 to 2: more changes than are allowed
    ");
    assert_snapshot!(ended.talk(), @r"
    error: 2 Deployments would be changed, and at most 1 may be (--max-changes): nothing was written
    Reconciled 1 Deployment in TIME: 0 raised, 0 failed, 0 skipped, 1 already satisfied, 2 withheld
    ");
    let command = once(&["--max-changes=1", "-o", "json"]);
    let json = cluster.minrep(&command).end().await.with_code(1).json();
    assert_eq!(json["summary"]["planned"], 2);
    assert_eq!(json["summary"]["maxChanges"], 1);
    assert_eq!(json["summary"]["withheld"], 2);
    assert_eq!(json["items"][0]["result"], "Withheld");
    assert_eq!(cluster.writes().len(), 0);
    let command = once(&["--max-changes=2"]);
    cluster.minrep(&command).end().await.with_code(0);
    assert_eq!(cluster.replicas("shop", "web"), 2);
}

#[tokio::test]
async fn a_deployment_may_name_its_own_minimum() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    annotate(&cluster, "web", "4");
    annotate(&cluster, "api", "1");
    cluster.minrep(&ONCE).end().await.with_code(0);
    assert_eq!(cluster.replicas("shop", "web"), 4);
    assert_eq!(cluster.replicas("shop", "api"), 1);
}

#[tokio::test]
async fn an_annotation_that_is_no_minimum_is_a_warning_and_no_failure() {
    let cluster = Cluster::with_web().await;
    annotate(&cluster, "web", "3.0");
    let command = once(&["--max-min=5", "-o", "json"]);
    let ended = cluster.minrep(&command).end().await.with_code(0);
    assert_snapshot!(ended.talk(), @r#"
    Warning: deployment.apps/web (shop/web): annotation minrep.dev/min is "3.0", which is no whole number from 1 to 5: the minimum of 2 applies
    Reconciled 1 Deployment in TIME: 1 raised, 0 failed, 0 skipped, 0 already satisfied
    "#);
    assert_eq!(
        ended.json()["items"][0]["warning"],
        "annotation minrep.dev/min is \"3.0\", which is no whole number from 1 to 5: the minimum \
         of 2 applies"
    );
    assert_eq!(cluster.replicas("shop", "web"), 2);
}

/// Once a value, however many Deployments have it; each by its name for who named them.
#[tokio::test]
async fn annotations_that_are_no_minimum_are_told_once_a_value() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    for name in ["a", "b", "c", "d"] {
        cluster.deployment("shop", name, 5);
        annotate(&cluster, name, if name == "d" { "-1" } else { "3.0" });
    }
    let ended = cluster.minrep(&ONCE).end().await.with_code(0);
    assert_snapshot!(ended.talk(), @r#"
    Warning: deployment.apps/a (shop/a) and 2 more: annotation minrep.dev/min is "3.0", which is no whole number from 1 to 100: the minimum of 2 applies
    Warning: deployment.apps/d (shop/d): annotation minrep.dev/min is "-1", which is no whole number from 1 to 100: the minimum of 2 applies
    No Deployment needs a change in shop namespace.
    Reconciled 4 Deployments in TIME: 0 raised, 0 failed, 0 skipped, 4 already satisfied
    "#);
    let named = once(&["deployment/a", "deployment/b"]);
    let ended = cluster.minrep(&named).end().await.with_code(0);
    assert_eq!(ended.stderr.matches("Warning: ").count(), 2, "{ended:?}");

    for number in 0..11 {
        let name = format!("e{number}");
        cluster.deployment("shop", &name, 5);
        annotate(&cluster, &name, &format!("{number}.5"));
    }
    let ended = cluster.minrep(&ONCE).end().await.with_code(0);
    assert_eq!(ended.stderr.matches("Warning: ").count(), 11, "{ended:?}");
    let rest = "Warning: 3 more like these (`-o json` has them all)";
    assert!(ended.stderr.contains(rest), "{ended:?}");
}

/// Label values that look like consent and are none.
#[tokio::test]
async fn values_that_do_not_opt_in_are_explained_to_who_asks() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    for (name, value) in [("a", "True"), ("b", "1"), ("c", "")] {
        cluster.labelled("shop", name, 1, &json!({"demo/min-replicas": value}));
    }
    let ended = cluster.minrep(&once(&["-v=4"])).end().await.with_code(0);
    for value in ["True", "1", ""] {
        let why = format!("not opted in: label demo/min-replicas is {value:?}, not \"true\"");
        assert!(ended.stderr.contains(&why), "{ended:?}");
    }
    let mut running = cluster.minrep(&["run", "-n", "shop", "-v=4"]).start();
    running.says("label demo/min-replicas is").await;
    running.signal("INT").await;
    running.end().await.with_code(0);
    assert_eq!(cluster.writes().len(), 0);
}
