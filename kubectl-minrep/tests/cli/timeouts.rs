//! `--timeout`.

use insta::assert_snapshot;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::Duration;

use crate::cluster::Cluster;

/// Three Deployments, whose writes take 1.5 s each.
async fn slow_cluster() -> Cluster {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    cluster.deployment("shop", "cart", 1);
    let slow = Action::DelayAnswer(Duration::from_millis(1500));
    cluster
        .server
        .faults()
        .add(Rule::new(slow).verb(Verb::Patch));
    cluster
}

fn once(more: &[&'static str]) -> Vec<&'static str> {
    let command = ["reconcile", "once", "-n", "shop", "--workers=1"];
    [&command[..], more].concat()
}

#[tokio::test]
async fn a_pass_that_takes_too_long_ends_and_says_what_was_not_done() {
    let cluster = slow_cluster().await;
    let command = once(&["--timeout=1s"]);
    let ended = cluster.minrep(&command).end().await.with_code(9);
    assert_snapshot!(ended.stdout, @r"
    NAMESPACE   NAME                   RESULT
    shop        deployment.apps/api    scaled from 1 to 2
    shop        deployment.apps/cart   not raised from 1 to 2: stopped before it was sent
    shop        deployment.apps/web    not raised from 1 to 2: stopped before it was sent
    ");
    assert_snapshot!(ended.talk(), @r"
    error: timed out after 1s (--timeout): nothing more was sent
    hint: run it again to go on, raise `--workers`, or raise `--timeout`
    Timed out: reconciled 1 Deployment in TIME: 1 raised, 0 failed, 0 skipped, 0 already satisfied, 2 not sent
    ");
    assert_eq!(cluster.writes().len(), 1);
    assert_eq!(cluster.replicas("shop", "api"), 2);
}

#[tokio::test]
async fn the_document_says_so_too() {
    let cluster = slow_cluster().await;
    let command = once(&["--timeout=1s", "-o", "json"]);
    let json = cluster.minrep(&command).end().await.with_code(9).json();
    let summary = &json["summary"];
    assert_eq!(summary["timedOut"], true);
    assert_eq!(summary["interrupted"], false);
    assert_eq!(
        (&summary["raised"], &summary["notSent"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(json["items"][2]["result"], "NotSent");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let cluster = Cluster::with_web().await;
    let hang = Rule::new(Action::Hang).verb(Verb::List);
    cluster.server.faults().add(hang);
    let ended = cluster
        .minrep(&once(&["--timeout=300ms", "-o=json"]))
        .end()
        .await
        .with_code(9);
    assert_eq!(ended.json()["items"], json!([]));
    assert_snapshot!(ended.talk(), @r"
    error: timed out after 300ms (--timeout), before everything was read: nothing was written
    hint: raise `--timeout`, or narrow with `-n` or `-l`
    Timed out: reconciled 0 Deployments in TIME: 0 raised, 0 failed, 0 skipped, 0 already satisfied
    ");
    assert_eq!(cluster.writes().len(), 0);
}

#[tokio::test]
async fn enough_time_changes_nothing() {
    let cluster = Cluster::with_web().await;
    for flag in ["--timeout=0", "--timeout=5m", "--timeout=60"] {
        let ended = cluster.minrep(&once(&[flag])).end().await;
        assert_eq!(ended.code, 0, "{flag}: {ended:?}");
    }
}

#[tokio::test]
async fn numbers_that_make_no_sense_are_mistakes() {
    let cluster = Cluster::with_web().await;
    let mut said = String::new();
    for flag in [
        "--timeout=-1s",
        "--timeout=soon",
        "--timeout=99999999999h",
        "--timeout=",
        "--workers=0",
        "--workers=-3",
        "--workers=1001",
        "--log-format=xml",
    ] {
        let ended = cluster.minrep(&once(&[flag])).end().await.with_code(2);
        assert_eq!(ended.stdout, "");
        said += ended.stderr.lines().next().unwrap_or_default();
        said.push('\n');
    }
    assert_snapshot!(said, @r"
    error: invalid value '-1s' for '--timeout <DURATION>': a duration cannot be negative (such as 300ms, 30s or 1h5m)
    error: invalid value 'soon' for '--timeout <DURATION>': that is no duration (such as 300ms, 30s or 1h5m)
    error: invalid value '99999999999h' for '--timeout <DURATION>': the duration is out of range (such as 300ms, 30s or 1h5m)
    error: invalid value '' for '--timeout <DURATION>': a duration is missing (such as 300ms, 30s or 1h5m)
    error: invalid value '0' for '--workers <N>': must be a whole number from 1 to 1000
    error: invalid value '-3' for '--workers <N>': must be a whole number from 1 to 1000
    error: invalid value '1001' for '--workers <N>': must be a whole number from 1 to 1000
    error: invalid value 'xml' for '--log-format <text|json>'
    ");
    assert_eq!(cluster.server.requests().len(), 0);
}

#[tokio::test]
async fn flags_have_twins_in_the_environment() {
    let cluster = Cluster::with_web().await;
    for (name, value) in [
        ("MINREP_TIMEOUT", "-1s"),
        ("MINREP_LOG_FORMAT", "xml"),
        ("MINREP_OUTPUT", "xml"),
    ] {
        let ended = cluster.minrep(&once(&[])[..4]).env(name, value).end().await;
        let said = &ended.with_code(2).stderr;
        assert!(said.starts_with("error: invalid value"), "{name}: {said}");
    }
}
