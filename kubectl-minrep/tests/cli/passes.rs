//! `reconcile once` over everything that opted in.

use insta::assert_snapshot;
use serde_json::json;
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Duration, Instant};

use crate::cluster::{Cluster, is_write};

const ONCE: [&str; 4] = ["reconcile", "once", "-n", "shop"];

fn once(more: &[&'static str]) -> Vec<&'static str> {
    [&ONCE[..], more].concat()
}

/// Everything that is left alone, beside what is raised.
async fn mixed() -> Cluster {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "queue", 3);
    cluster.deployment("shop", "parked", 0);
    cluster.labelled("shop", "plain", 1, &json!({}));
    cluster.deployment("shop", "search", 1);
    cluster.server.seed(json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "search-hpa", "namespace": "shop"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "search"},
            "minReplicas": 1, "maxReplicas": 4,
        },
    }));
    cluster
}

#[tokio::test]
async fn raises_what_is_below_the_minimum_and_tells_the_rest() {
    let cluster = mixed().await;
    let ended = cluster
        .minrep(&once(&["--zero=keep"]))
        .end()
        .await
        .with_code(0);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/web   scaled from 1 to 2
    ");
    assert_snapshot!(ended.talk(), @r"
    Skipped: 1 Autoscaled, 1 ZeroKept (`-o json` names them)
    Reconciled 4 Deployments in TIME: 1 raised, 0 failed, 2 skipped, 1 already satisfied
    ");
    let replicas = |name| cluster.replicas("shop", name);
    assert_eq!(replicas("web"), 2);
    assert_eq!(replicas("queue"), 3);
    assert_eq!(replicas("parked"), 0);
    assert_eq!(replicas("plain"), 1);
    assert_eq!(replicas("search"), 1);
    assert_eq!(cluster.writes().len(), 1);
}

#[tokio::test]
async fn a_second_pass_has_nothing_to_do() {
    let cluster = Cluster::with_web().await;
    cluster.minrep(&ONCE).end().await.with_code(0);
    let ended = cluster.minrep(&ONCE).end().await.with_code(0);
    assert_eq!(ended.stdout, "");
    assert_snapshot!(ended.talk(), @r"
    No Deployment needs a change in shop namespace.
    Reconciled 1 Deployment in TIME: 0 raised, 0 failed, 0 skipped, 1 already satisfied
    ");
    assert_eq!(cluster.writes().len(), 1);
}

#[tokio::test]
async fn nothing_opted_in_is_said() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    let ended = cluster.minrep(&ONCE).end().await.with_code(0);
    assert_eq!(ended.stdout, "");
    assert_snapshot!(ended.talk(), @r"
    No opted-in Deployments found in shop namespace.
    Reconciled 0 Deployments in TIME: 0 raised, 0 failed, 0 skipped, 0 already satisfied
    ");
}

/// stdout is one JSON document however much is said beside it.
#[tokio::test]
async fn json_stays_pure_while_stderr_is_noisy() {
    let cluster = mixed().await;
    let ended = cluster
        .minrep(&once(&["-o", "json", "-v=9"]))
        .end()
        .await
        .with_code(0);
    assert!(ended.stderr.lines().count() > 10, "{ended:?}");
    let json = ended.json();
    assert_eq!(json["kind"], "ReconcileReport");
    assert_eq!(json["items"].as_array().map(Vec::len), Some(4));
    assert_eq!(json["summary"]["raised"], 2);
    assert_eq!(json["summary"]["skipped"], 1);
    assert_eq!(json["summary"]["satisfied"], 1);
    let uid = &cluster.server.object("deployments", "shop", "web").unwrap()["metadata"]["uid"];
    let web = json["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["name"] == "web")
        .unwrap();
    assert_eq!(web["uid"], *uid);
    assert_eq!(web["replicas"], json!({"from": 1, "to": 2}));
}

#[tokio::test]
async fn dry_runs_change_nothing_and_say_so() {
    let cluster = Cluster::with_web().await;
    let ended = cluster
        .minrep(&once(&["--dry-run=client"]))
        .end()
        .await
        .with_code(0);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/web   would be scaled from 1 to 2 (dry run)
    ");
    assert!(ended.stderr.contains(" (dry run)\n"), "{ended:?}");
    assert_eq!(cluster.writes().len(), 0);
    let ended = cluster
        .minrep(&once(&["--dry-run=server"]))
        .end()
        .await
        .with_code(0);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/web   would be scaled from 1 to 2 (server dry run)
    ");
    assert_eq!(cluster.replicas("shop", "web"), 1);
    let asked = cluster.writes();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].info.query("dryRun"), Some("All"));
}

/// C-15.
#[tokio::test]
async fn a_webhook_that_refuses_dry_runs_is_named() {
    let cluster = Cluster::with_web().await;
    let message = r#"admission webhook "policy.example.com" does not support dry run"#;
    let refuse = Action::status(400).reason("BadRequest").message(message);
    cluster
        .server
        .faults()
        .add(Rule::new(refuse).verb(Verb::Patch));
    let ended = cluster
        .minrep(&once(&["--dry-run=server"]))
        .end()
        .await
        .with_code(7);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/web   could not be raised from 1 to 2 (400 BadRequest) (server dry run)
    ");
    assert_snapshot!(ended.talk(), @r#"
    Error from server (BadRequest): admission webhook "policy.example.com" does not support dry run (shop/web)
    hint: `--dry-run=client` asks no webhook, and does not know what one would say
    Reconciled 1 Deployment in TIME: would raise 0, 1 failed, 0 skipped, 0 already satisfied (server dry run)
    "#);
    let writes = cluster.writes();
    assert!(!writes.is_empty());
    for request in writes {
        assert_eq!(request.info.query("dryRun"), Some("All"), "{request:?}");
        assert!(request.is_about("deployments/scale"), "{request:?}");
    }
}

/// C-08.
#[tokio::test]
async fn one_that_cannot_be_written_does_not_stop_the_others() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    cluster.deployment("shop", "cart", 1);
    let message = r#"Internal error occurred: add operation does not apply: doc is missing path: "/metadata/labels/injected": missing value"#;
    let broken = Action::status(500).reason("InternalError").message(message);
    cluster
        .server
        .faults()
        .add(Rule::new(broken).verb(Verb::Patch).object("web"));
    let started = Instant::now();
    let ended = cluster.minrep(&ONCE).end().await.with_code(7);
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                   RESULT
    shop        deployment.apps/api    scaled from 1 to 2
    shop        deployment.apps/cart   scaled from 1 to 2
    shop        deployment.apps/web    could not be raised from 1 to 2 (500 InternalError)
    ");
    assert_snapshot!(ended.talk(), @r#"
    Error from server (InternalError): Internal error occurred: add operation does not apply: doc is missing path: "/metadata/labels/injected": missing value (shop/web)
    Reconciled 3 Deployments in TIME: 2 raised, 1 failed, 0 skipped, 0 already satisfied
    "#);
    let writes = cluster
        .server
        .requests_where(|request| is_write(request) && request.info.name.as_deref() == Some("web"));
    assert!(writes.len() <= 5, "{}", writes.len());
    assert!(
        writes
            .iter()
            .all(|request| request.is_about("deployments/scale"))
    );
    assert_eq!(cluster.replicas("shop", "api"), 2);
    assert_eq!(cluster.replicas("shop", "cart"), 2);
}

/// C-28.
#[tokio::test]
async fn a_cause_that_all_share_is_told_once() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    for n in 0..50 {
        cluster.deployment("shop", &format!("web-{n:02}"), 1);
    }
    let full = Action::status(500).message("etcdserver: mvcc: database space exceeded");
    cluster
        .server
        .faults()
        .add(Rule::new(full).verb(Verb::Patch));
    let ended = cluster.minrep(&ONCE).end().await.with_code(7);
    let told = ended.stderr.matches("database space exceeded").count();
    assert_eq!(told, 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("(shop/web-00 and 49 more)"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.stdout.lines().count(), 51);
}

#[tokio::test]
async fn all_namespaces_leave_the_system_out_unless_it_is_named() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("kube-system", "dns", 1);
    let ended = cluster
        .minrep(&["reconcile", "once", "-A"])
        .end()
        .await
        .with_code(0);
    assert!(
        ended.stderr.contains("Skipped: 1 NamespaceExcluded"),
        "{ended:?}"
    );
    assert_eq!(cluster.replicas("kube-system", "dns"), 1);
    assert_eq!(cluster.replicas("shop", "web"), 2);

    let both = ["reconcile", "once", "-A", "-n", "kube-system"];
    cluster.minrep(&both).end().await.with_code(0);
    assert_eq!(cluster.replicas("kube-system", "dns"), 1, "-A wins over -n");

    let named = ["reconcile", "once", "-n", "kube-system"];
    cluster.minrep(&named).end().await.with_code(0);
    assert_eq!(cluster.replicas("kube-system", "dns"), 2);
}

/// The context stands in a namespace that is left out: nobody typed it.
#[tokio::test]
async fn a_system_namespace_of_the_context_is_left_out_with_a_hint() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("kube-system", "dns", 1);
    let text = cluster.server.kubeconfig();
    let text = text.replace("namespace: default", "namespace: kube-system");
    std::fs::write(cluster.kubeconfig(), text).expect("a file can be written");
    let ended = cluster
        .minrep(&["reconcile", "once"])
        .end()
        .await
        .with_code(0);
    assert_snapshot!(ended.talk(), @r"
    No Deployment needs a change in kube-system namespace.
    Skipped: 1 NamespaceExcluded (`-o json` names them)
    hint: `-n kube-system` says that you mean it
    Reconciled 1 Deployment in TIME: 0 raised, 0 failed, 1 skipped, 0 already satisfied
    ");
    assert_eq!(cluster.writes().len(), 0);
}

#[tokio::test]
async fn an_empty_value_clears_the_excluded_namespaces() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("kube-system", "dns", 1);
    let command = [
        "reconcile",
        "once",
        "-A",
        "--exclude-namespace=",
        "--exclude-namespace=shop",
    ];
    cluster.minrep(&command).end().await.with_code(0);
    assert_eq!(cluster.replicas("kube-system", "dns"), 2);
    assert_eq!(cluster.replicas("shop", "web"), 1);
}

#[tokio::test]
async fn a_selector_narrows_and_a_label_can_be_another() {
    let cluster = Cluster::with_web().await;
    let labels = |tier: &str| json!({"team/keep-up": "yes", "tier": tier});
    cluster.labelled("shop", "api", 1, &labels("backend"));
    cluster.labelled("shop", "cart", 1, &labels("frontend"));
    let command = once(&[
        "--opt-in-label=team/keep-up=yes",
        "-l",
        "tier in (backend)",
        "--min=3",
    ]);
    cluster.minrep(&command).end().await.with_code(0);
    assert_eq!(cluster.replicas("shop", "api"), 3);
    assert_eq!(cluster.replicas("shop", "cart"), 1);
    assert_eq!(cluster.replicas("shop", "web"), 1);
}

/// `| head -1` is no failure.
#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let cluster = Cluster::with_web().await;
    // The pipe is closed before the report is written.
    let slow = Action::DelayAnswer(Duration::from_millis(300));
    cluster
        .server
        .faults()
        .add(Rule::new(slow).verb(Verb::Patch));
    let mut running = cluster.minrep(&ONCE).start();
    running.close_stdout();
    let ended = running.end().await.with_code(0);
    assert_snapshot!(ended.talk(), @"Reconciled 1 Deployment in TIME: 1 raised, 0 failed, 0 skipped, 0 already satisfied");
    assert_eq!(cluster.replicas("shop", "web"), 2);
}
