//! `-o`: every form of the report.

use insta::assert_snapshot;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::cluster::Cluster;
use crate::process::Ended;

/// One to raise, one that has enough, one that an autoscaler has, one that is not opted in.
async fn cluster() -> Cluster {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "queue", 3);
    cluster.labelled("shop", "off", 1, &json!({"demo/min-replicas": "off"}));
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

async fn once(cluster: &Cluster, output: &str) -> Ended {
    let command = [
        "reconcile",
        "once",
        "-n",
        "shop",
        "--dry-run=client",
        "-o",
        output,
    ];
    cluster.minrep(&command).end().await.with_code(0)
}

/// What differs from run to run: uids and the time it took.
fn steady(text: &str) -> String {
    let steady = |line: &str| -> String {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for word in &mut words {
            if word.len() == 36 && word.matches('-').count() == 4 {
                *word = "UID".into();
            }
        }
        match words.iter().position(|word| word == "durationSeconds:") {
            Some(at) => words[..=at].join(" ") + " SECONDS",
            None => words.join(" "),
        }
    };
    text.lines().map(steady).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn wide_shows_everything_and_why() {
    let ended = once(&cluster().await, "wide").await;
    assert_snapshot!(steady(&ended.stdout), @r#"
    NAMESPACE   NAME                     RESULT                                                                REASON       MANAGER                              UID
    shop        deployment.apps/off      skipped: not opted in: label demo/min-replicas is "off", not "true"   NotOptedIn   <none>                               UID
    shop        deployment.apps/queue    already satisfies the minimum of 2 (3 replicas)                       Satisfied    <none>                               UID
    shop        deployment.apps/search   skipped: autoscaled by HorizontalPodAutoscaler search-hpa             Autoscaled   HorizontalPodAutoscaler/search-hpa   UID
    shop        deployment.apps/web      would be scaled from 1 to 2 (dry run)                                 Raise        <none>                               UID
    "#);
}

#[tokio::test]
async fn names_can_be_piped() {
    let cluster = cluster().await;
    cluster.deployment("shop", "api", 0);
    let ended = once(&cluster, "name").await;
    assert_snapshot!(ended.stdout, @r"
    deployment.apps/api
    deployment.apps/web
    ");
    let ended = once(&cluster, "NAME").await;
    assert_eq!(
        ended.stdout.lines().count(),
        2,
        "in any case, as with kubectl"
    );
}

#[tokio::test]
async fn yaml_is_the_json_document() {
    let cluster = cluster().await;
    let ended = once(&cluster, "yaml").await;
    assert_snapshot!(steady(&ended.stdout), @r#"
    apiVersion: minrep.dev/v1alpha1
    kind: ReconcileReport
    items:
    - apiVersion: apps/v1
      kind: Deployment
      namespace: shop
      name: "off"
      uid: UID
      result: Skipped
      reason: NotOptedIn
      message: "skipped: not opted in: label demo/min-replicas is \"off\", not \"true\""
    - apiVersion: apps/v1
      kind: Deployment
      namespace: shop
      name: queue
      uid: UID
      result: Satisfied
      reason: Satisfied
      message: already satisfies the minimum of 2 (3 replicas)
    - apiVersion: apps/v1
      kind: Deployment
      namespace: shop
      name: search
      uid: UID
      result: Skipped
      reason: Autoscaled
      message: "skipped: autoscaled by HorizontalPodAutoscaler search-hpa"
      autoscaler:
        kind: HorizontalPodAutoscaler
        name: search-hpa
    - apiVersion: apps/v1
      kind: Deployment
      namespace: shop
      name: web
      uid: UID
      result: WouldRaise
      reason: Raise
      message: would be scaled from 1 to 2 (dry run)
      replicas:
        from: 1
        to: 2
    summary:
      dryRun: client
      interrupted: false
      timedOut: false
      durationSeconds: SECONDS
      planned: 1
      considered: 4
      raised: 0
      wouldRaise: 1
      failed: 0
      skipped: 2
      satisfied: 1
      notFound: 0
      notSent: 0
      withheld: 0
      notLookedAt: 0
      unanswered: 0
      warnings: []
    "#);
    let mut yaml: serde_json::Value = serde_saphyr::from_str(&ended.stdout).expect("it is YAML");
    let mut json = once(&cluster, "json").await.json();
    for document in [&mut yaml, &mut json] {
        document["summary"]["durationSeconds"] = json!(0);
    }
    assert_eq!(yaml, json);
}

#[tokio::test]
async fn a_failure_is_in_every_form() {
    let cluster = Cluster::with_web().await;
    let refuse = Action::status(422).reason("Invalid").message(
        "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'no-scaling' with \
             binding 'no-scaling' denied request: replicas are frozen",
    );
    let rule = Rule::new(refuse).verb(Verb::Patch);
    cluster.server.faults().add(rule);
    let of = |output| {
        [
            "reconcile",
            "once",
            "-n",
            "shop",
            "--dry-run=server",
            "-o",
            output,
        ]
    };
    let ended = cluster.minrep(&of("wide")).end().await.with_code(7);
    assert_snapshot!(steady(&ended.stdout), @r"
    NAMESPACE   NAME                  RESULT                                                           REASON   MANAGER   UID
    shop        deployment.apps/web   could not be raised from 1 to 2 (422 Invalid) (server dry run)   Raise    <none>    UID
    ");
    assert_snapshot!(ended.talk(), @r#"
    Error from server (Invalid): deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'no-scaling' with binding 'no-scaling' denied request: replicas are frozen (shop/web)
    Reconciled 1 Deployment in TIME: would raise 0, 1 failed, 0 skipped, 0 already satisfied (server dry run)
    "#);
    let ended = cluster.minrep(&of("name")).end().await.with_code(7);
    assert_eq!(ended.stdout, "");
    let json = cluster.minrep(&of("json")).end().await.with_code(7).json();
    assert_eq!(json["items"][0]["replicas"], json!({"from": 1, "to": 2}));
    assert_eq!(json["items"][0]["reason"], "Raise");
    assert_eq!(json["items"][0]["error"]["reason"], "Invalid");
    assert_eq!(cluster.replicas("shop", "web"), 1);
}

#[tokio::test]
async fn another_form_is_a_mistake() {
    let cluster = Cluster::with_web().await;
    let command = ["reconcile", "once", "-o", "jsonpath={.items}"];
    let ended = cluster.minrep(&command).end().await.with_code(2);
    assert_snapshot!(ended.talk(), @r#"
    error: invalid value 'jsonpath={.items}' for '--output <table|wide|name|json|yaml>': unable to match a printer suitable for the output format "jsonpath={.items}", allowed formats are: json,name,table,wide,yaml

    See 'kubectl minrep reconcile once -h' for help and examples.
    "#);
    let ended = cluster.minrep(&["version", "-o", "wide"]).end().await;
    assert_snapshot!(ended.with_code(2).talk(), @r#"
    error: invalid value 'wide' for '--output <table|json|yaml>': unable to match a printer suitable for the output format "wide", allowed formats are: json,table,yaml

    See 'kubectl minrep version -h' for help and examples.
    "#);
}
