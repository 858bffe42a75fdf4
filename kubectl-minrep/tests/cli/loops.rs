//! `run`.

use insta::assert_snapshot;
use serde_json::json;
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Duration, Instant};

use crate::cluster::{Cluster, is_write};

const RUN: [&str; 3] = ["run", "-n", "shop"];

#[tokio::test]
async fn says_where_it_acts_raises_and_drains() {
    let cluster = Cluster::with_web().await;
    let running = cluster.minrep(&RUN).start();
    cluster.wait_for_replicas("shop", "web", 2).await;
    // Somebody scales it down again, somebody makes another.
    cluster.server.mutate("deployments", "shop", "web", |web| {
        web["spec"]["replicas"] = json!(1);
    });
    cluster.wait_for_replicas("shop", "web", 2).await;
    cluster.deployment("shop", "api", 0);
    cluster.wait_for_replicas("shop", "api", 2).await;
    running.signal("TERM").await;
    let ended = running.end().await.with_code(0);
    assert_eq!(ended.stdout, "", "there is no data in a log");
    let talk = ended.talk();
    let mut lines = talk.lines();
    assert_snapshot!(lines.next().unwrap(), @r#"Using context "sim", server http://127.0.0.1:PORT, namespace "shop""#);
    assert_snapshot!(lines.next().unwrap(), @"Keeping Deployments with demo/min-replicas=true at a minimum of 2 replicas");
    assert_snapshot!(lines.next_back().unwrap(), @"Stopped after TIME: 3 raised, 0 failing");
    assert!(
        talk.contains("deployment.apps/web scaled from 1 to 2"),
        "{talk}"
    );
    assert!(
        talk.contains("deployment.apps/api scaled from 0 to 2"),
        "{talk}"
    );
}

#[tokio::test]
async fn one_that_is_deleted_no_longer_exists() {
    let cluster = Cluster::with_web().await;
    let mut running = cluster.minrep(&RUN).start();
    running.says("scaled from 1 to 2").await;
    cluster.server.remove("deployments", "shop", "web");
    running.says("no longer exists").await;
    running.signal("INT").await;
    running.end().await.with_code(0);
}

#[tokio::test]
async fn a_client_dry_run_watches_and_counts() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    let command = [&RUN[..], &["--dry-run=client", "--workers=1"]].concat();
    let mut running = cluster.minrep(&command).start();
    running.says("would be scaled from 1 to 2 (dry run)").await;
    running.says("would be scaled from 1 to 2 (dry run)").await;
    running.signal("INT").await;
    let ended = running.end().await.with_code(0);
    assert_snapshot!(ended.talk().lines().next_back().unwrap(), @"Stopped after TIME: would raise 2, 0 failing (dry run)");
    assert_eq!(cluster.writes().len(), 0);
}

/// With `server` each change is sent once per decision, and a refusal is told.
#[tokio::test]
async fn a_server_dry_run_asks_once_per_decision() {
    let cluster = Cluster::with_web().await;
    cluster.deployment("shop", "api", 1);
    let message = "exceeded quota: pods";
    let refuse = Action::status(403).reason("Forbidden").message(message);
    cluster
        .server
        .faults()
        .add(Rule::new(refuse).verb(Verb::Patch).object("api"));
    let command = [&RUN[..], &["--dry-run=server", "--resync=100ms", "-v=4"]].concat();
    let mut running = cluster.minrep(&command).start();
    running.says("exceeded quota").await;
    // Long enough for a dozen resyncs; what is waited for is the absence of requests.
    let quiet = cluster.server.wait_for_requests(|requests| {
        requests.iter().filter(|request| is_write(request)).count() > 2
    });
    assert!(
        tokio::time::timeout(Duration::from_secs(1), quiet)
            .await
            .is_err()
    );
    running.signal("TERM").await;
    running.end().await.with_code(0);
    for write in cluster.writes() {
        assert_eq!(write.info.query("dryRun"), Some("All"));
    }
    assert_eq!(cluster.replicas("shop", "web"), 1);
}

#[tokio::test]
async fn an_absent_namespace_is_waited_for() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    let mut running = cluster.minrep(&["run", "-n", "later"]).start();
    running.says("does not exist yet").await;
    cluster.server.seed(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"},
    }));
    cluster.deployment("later", "web", 1);
    cluster.wait_for_replicas("later", "web", 2).await;
    running.signal("TERM").await;
    running.end().await.with_code(0);
}

/// What would have kept it from starting does not stop it once it works.
#[tokio::test]
async fn nothing_but_a_signal_ends_it_after_the_first_lists() {
    let cluster = Cluster::with_web().await;
    let running = cluster.minrep(&RUN).start();
    cluster.wait_for_replicas("shop", "web", 2).await;
    let reset = cluster.server.faults().add(Rule::new(Action::status(401)));
    cluster.server.mutate("deployments", "shop", "web", |web| {
        web["spec"]["replicas"] = json!(1);
    });
    let refused = |server: &SimApiServer| server.faults().fired(reset) >= 2;
    cluster.server.wait_for(refused).await;
    cluster.server.faults().remove(reset);
    cluster.wait_for_replicas("shop", "web", 2).await;
    running.signal("TERM").await;
    running.end().await.with_code(0);
}

/// C-26, shortened: a write that hangs is given up and tried again, a quiet watch lives.
#[tokio::test]
async fn the_request_timeout_cuts_writes_and_no_watch() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    let hang = Rule::new(Action::Hang).verb(Verb::Patch).attempts(1);
    cluster.server.faults().add(hang);
    let command = [&RUN[..], &["--request-timeout=1s"]].concat();
    let running = cluster.minrep(&command).start();
    let watches = |server: &SimApiServer| {
        server
            .requests_where(|request| request.verb() == Verb::Watch)
            .len()
    };
    cluster.server.wait_for(|server| watches(server) >= 3).await;
    // Longer than the timeout: the watches are older than it when the event comes.
    let none = cluster.server.wait_for(|server| watches(server) > 3);
    assert!(
        tokio::time::timeout(Duration::from_millis(1500), none)
            .await
            .is_err()
    );
    cluster.deployment("shop", "web", 1);
    let started = Instant::now();
    cluster.wait_for_replicas("shop", "web", 2).await;
    let took = started.elapsed();
    assert!(
        took > Duration::from_millis(900) && took < Duration::from_secs(8),
        "{took:?}"
    );
    assert_eq!(watches(&cluster.server), 3);
    running.signal("TERM").await;
    running.end().await.with_code(0);
}

/// The numbers are in the log as they come, but a person looks at the end.
#[tokio::test]
async fn events_that_were_not_written_are_told_at_the_end() {
    for is_refused in [true, false] {
        let cluster = Cluster::with_web().await;
        if is_refused {
            let refused = Action::status(403).reason("Forbidden").message("a quota");
            let refused = Rule::new(refused).verb(Verb::Create).resource("events");
            cluster.server.faults().add(refused);
        }
        let running = cluster.minrep(&["run", "-n", "shop"]).start();
        cluster.wait_for_replicas("shop", "web", 2).await;
        running.signal("TERM").await;
        let ended = running.end().await.with_code(0);
        let talk = ended.talk();
        let told = talk.lines().rev().take(2).collect::<Vec<_>>();
        assert_eq!(told[0], "Stopped after TIME: 1 raised, 0 failing", "{talk}");
        assert_eq!(
            told[1] == "1 event not written: 1 refused",
            is_refused,
            "{talk}"
        );
        assert_eq!(talk.contains("not written"), is_refused, "{talk}");
    }
}
