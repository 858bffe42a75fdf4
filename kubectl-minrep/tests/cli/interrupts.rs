//! Signals: the first asks, the second insists.

use insta::{allow_duplicates, assert_snapshot};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Duration, Instant};

use crate::cluster::{Cluster, is_write};
use crate::process::Running;

fn writes(server: &SimApiServer) -> usize {
    server.requests_where(is_write).len()
}

/// A pass over three Deployments, one at a time, in the middle of its first write.
async fn in_the_middle_of_a_write(fault: Action, more: &[&str]) -> (Cluster, Running) {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    cluster.deployment("shop", "cart", 1);
    cluster
        .server
        .faults()
        .add(Rule::new(fault).verb(Verb::Patch));
    let command = [&["reconcile", "once", "-n", "shop", "--workers=1"], more].concat();
    let running = cluster.minrep(&command).start();
    cluster.server.wait_for(|server| writes(server) == 1).await;
    (cluster, running)
}

#[tokio::test]
async fn a_pass_awaits_what_it_sent_and_sends_no_more() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let slow = Action::DelayAnswer(Duration::from_millis(700));
        let (cluster, running) = in_the_middle_of_a_write(slow, &[]).await;
        running.signal(signal).await;
        let ended = running.end().await.with_code(code);
        assert_eq!(writes(&cluster.server), 1);
        let raised = ["api", "cart", "web"]
            .into_iter()
            .filter(|name| cluster.replicas("shop", name) == 2)
            .count();
        assert_eq!(raised, 1);
        assert!(ended.stdout.contains("scaled from 1 to 2"), "{ended:?}");
        allow_duplicates! {
            assert_snapshot!(ended.talk(), @r"
            Interrupted: waiting for what was sent; a second signal ends at once
            Interrupted: reconciled 1 Deployment in TIME: 1 raised, 0 failed, 0 skipped, 0 already satisfied, 2 not sent
            ");
        }
    }
}

/// 130 says that something was left undone.
#[tokio::test]
async fn a_signal_that_cuts_nothing_short_changes_no_exit_code() {
    for (fault, code) in [
        (Action::DelayAnswer(Duration::from_millis(700)), 0),
        (Action::Delay(Duration::from_millis(700)), 7),
    ] {
        let cluster = Cluster::with_web().await;
        let mut rule = Rule::new(fault).verb(Verb::Patch);
        if code == 7 {
            rule = rule.then(Action::status(422).reason("Invalid").message("no"));
        }
        cluster.server.faults().add(rule);
        let running = cluster.minrep(&["reconcile", "once", "-n", "shop"]).start();
        cluster.server.wait_for(|server| writes(server) == 1).await;
        running.signal("INT").await;
        let ended = running.end().await.with_code(code);
        let last = ended.stderr.lines().last();
        assert!(
            last.is_some_and(|line| line.starts_with("Reconciled 1")),
            "{ended:?}"
        );
    }
}

#[tokio::test]
async fn an_interrupted_pass_still_writes_its_document() {
    let slow = Action::DelayAnswer(Duration::from_millis(700));
    let (_cluster, running) = in_the_middle_of_a_write(slow, &["-o", "json"]).await;
    running.signal("INT").await;
    let json = running.end().await.with_code(130).json();
    assert_eq!(json["summary"]["interrupted"], true);
    assert_eq!(json["summary"]["raised"], 1);
}

#[tokio::test]
async fn a_second_signal_ends_a_pass_at_once() {
    let (_cluster, mut running) = in_the_middle_of_a_write(Action::Hang, &[]).await;
    running.signal("INT").await;
    running.says("waiting for what was sent").await;
    running.signal("INT").await;
    let started = Instant::now();
    running.end().await.with_code(130);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_loop_ends_at_once_at_the_second_signal() {
    for (second, code) in [("INT", 130), ("TERM", 143)] {
        let cluster = Cluster::with_web().await;
        cluster
            .server
            .faults()
            .add(Rule::new(Action::Hang).verb(Verb::Patch));
        let mut running = cluster.minrep(&["run", "-n", "shop"]).start();
        cluster.server.wait_for(|server| writes(server) == 1).await;
        running.signal("TERM").await;
        running.says("Shutting down").await;
        running.signal(second).await;
        let started = Instant::now();
        running.end().await.with_code(code);
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "the grace period is 25 s"
        );
    }
}

/// The grace period bounds how long the first signal takes.
#[tokio::test]
async fn a_loop_that_cannot_drain_ends_after_the_grace_period() {
    let cluster = Cluster::with_web().await;
    cluster
        .server
        .faults()
        .add(Rule::new(Action::Hang).verb(Verb::Patch));
    let command = [
        "run",
        "-n",
        "shop",
        "--shutdown-grace-period=300ms",
        "--request-timeout=2s",
    ];
    let running = cluster.minrep(&command).start();
    cluster.server.wait_for(|server| writes(server) == 1).await;
    running.signal("INT").await;
    let started = Instant::now();
    let ended = running.end().await.with_code(0);
    assert!(started.elapsed() < Duration::from_secs(10));
    let named = "cut off by the end of the grace period while being looked at: shop/web\n";
    assert!(ended.stderr.contains(named), "{ended:?}");
}

#[tokio::test]
async fn a_loop_that_waits_for_its_first_lists_ends_well() {
    let cluster = Cluster::with_web().await;
    cluster
        .server
        .faults()
        .add(Rule::new(Action::Hang).verb(Verb::List));
    let running = cluster.minrep(&["run", "-n", "shop"]).start();
    cluster
        .server
        .wait_for_requests(|requests| !requests.is_empty())
        .await;
    running.signal("TERM").await;
    running.end().await.with_code(0);
    assert_eq!(writes(&cluster.server), 0);
}
