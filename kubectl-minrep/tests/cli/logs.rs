//! `--log-format`.

use std::collections::HashSet;

use serde_json::Value;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::cluster::Cluster;

/// Every line of stderr.
fn lines(stderr: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    stderr.lines().map(parse).collect()
}

fn id(line: &Value) -> Option<&str> {
    let spans = line["spans"].as_array()?;
    let reconcile = spans.iter().find(|span| span["name"] == "reconcile")?;
    reconcile["reconcileID"].as_str()
}

#[tokio::test]
async fn every_line_of_a_loop_is_json_and_every_reconcile_has_an_id() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    let command = ["run", "-n", "shop", "--log-format=json"];
    let mut running = cluster.minrep(&command).start();
    cluster.wait_for_replicas("shop", "web", 2).await;
    cluster.wait_for_replicas("shop", "api", 2).await;
    running.says("deployment.apps/").await;
    running.signal("TERM").await;
    let ended = running.end().await.with_code(0);
    let lines = lines(&ended.stderr);
    for line in &lines {
        for field in ["timestamp", "level", "message", "target"] {
            assert!(line[field].is_string(), "{field}: {line}");
        }
    }
    let decided: Vec<&Value> = lines
        .iter()
        .filter(|line| {
            line["message"]
                .as_str()
                .is_some_and(|it| it.contains("scaled from"))
        })
        .collect();
    assert_eq!(decided.len(), 2, "{ended:?}");
    let ids: HashSet<&str> = decided.iter().filter_map(|line| id(line)).collect();
    assert_eq!(ids.len(), 2, "{decided:?}");
    assert_eq!(decided[0]["reason"], "Raise");
}

#[tokio::test]
async fn lines_of_one_reconcile_share_its_id() {
    let cluster = Cluster::with_web().await;
    let conflict = Action::status(409).reason("Conflict").message("changed");
    let rule = Rule::new(conflict).verb(Verb::Patch).attempts(1);
    cluster.server.faults().add(rule);
    let command = [
        "reconcile",
        "once",
        "-n",
        "shop",
        "--log-format=json",
        "-v=6",
    ];
    let ended = cluster.minrep(&command).end().await.with_code(0);
    let lines = lines(&ended.stderr);
    let ids: Vec<&str> = lines.iter().filter_map(id).collect();
    assert!(ids.len() > 3, "requests and the decision: {ended:?}");
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 1, "{ids:?}");
}

#[tokio::test]
async fn what_is_said_beside_the_log_is_json_too() {
    let cluster = Cluster::with_web().await;
    let command = ["reconcile", "once", "-n", "nowhere", "--log-format=json"];
    let ended = cluster.minrep(&command).end().await.with_code(6);
    let lines = lines(&ended.stderr);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["level"], "ERROR");
    let message = lines[0]["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("error: namespace \"nowhere\" not found"),
        "{message}"
    );
}

#[tokio::test]
async fn text_has_the_id_for_who_asks_for_decisions() {
    let cluster = Cluster::with_web().await;
    for (verbosity, has_id) in [("-v=0", false), ("-v=2", false), ("-v=4", true)] {
        let command = [
            "reconcile",
            "once",
            "-n",
            "shop",
            "--dry-run=client",
            verbosity,
        ];
        let ended = cluster.minrep(&command).end().await.with_code(0);
        assert_eq!(ended.stderr.contains("reconcileID="), has_id, "{ended:?}");
    }
}

#[tokio::test]
async fn requests_are_logged_from_six_on_and_decisions_from_four() {
    let cluster = Cluster::with_web().await;
    let ended = cluster
        .minrep(&[
            "reconcile",
            "once",
            "-n",
            "shop",
            "-v=4",
            "--dry-run=client",
        ])
        .end();
    let ended = ended.await.with_code(0);
    assert!(
        ended.stderr.contains("}: deployment.apps/web would be"),
        "{ended:?}"
    );
    assert!(!ended.stderr.contains("method=GET"), "{ended:?}");
    let ended = cluster
        .minrep(&[
            "reconcile",
            "once",
            "-n",
            "shop",
            "-v=6",
            "--dry-run=client",
        ])
        .end();
    let ended = ended.await.with_code(0);
    assert!(ended.stderr.contains("method=GET"), "{ended:?}");
}

/// tokio panics at this variable, as it does when no thread can be started: the only way to
/// make a bug from outside.
#[tokio::test]
async fn a_panic_is_json_too() {
    let cluster = Cluster::with_web().await;
    for backtrace in ["0", "1"] {
        for command in [&["reconcile", "once"][..], &["run"], &["version"]] {
            let command = [command, &["--log-format=json"]].concat();
            let process = cluster.minrep(&command).env("TOKIO_WORKER_THREADS", "0");
            let ended = process.env("RUST_BACKTRACE", backtrace).end().await;
            let lines = lines(&ended.with_code(70).stderr);
            let [panic, bug] = &lines[..] else {
                panic!("{lines:#?}")
            };
            for line in [panic, bug] {
                assert_eq!(line["level"], "ERROR", "{line}");
                assert!(line["timestamp"].is_string() && line["target"].is_string());
            }
            let message = panic["message"].as_str().unwrap();
            assert!(
                message.starts_with("thread \"main\" panicked at "),
                "{message}"
            );
            assert!(message.contains("TOKIO_WORKER_THREADS"), "{message}");
            assert_eq!(message.contains("stack backtrace"), backtrace == "1");
            let bug = bug["message"].as_str().unwrap();
            assert!(bug.starts_with("error: internal error"), "{bug}");
        }
    }
}

#[tokio::test]
async fn a_panic_is_told_as_ever_in_a_text_log() {
    let cluster = Cluster::with_web().await;
    let process = cluster.minrep(&["reconcile", "once"]);
    let ended = process
        .env("TOKIO_WORKER_THREADS", "0")
        .end()
        .await
        .with_code(70);
    assert!(ended.stderr.contains("panicked at "), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("error: internal error, this is a bug"),
        "{ended:?}"
    );
}
