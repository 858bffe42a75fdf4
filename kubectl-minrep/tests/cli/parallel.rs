//! Several writes at once, of one pass and of two.

use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::Duration;

use crate::cluster::{Cluster, is_write};

/// None of them is answered, so what was sent is what may be under way at once.
#[tokio::test]
async fn as_many_are_under_way_as_there_are_workers() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    for n in 0..10 {
        cluster.deployment("shop", &format!("web-{n}"), 1);
    }
    let hang = Rule::new(Action::Hang).verb(Verb::Patch);
    cluster.server.faults().add(hang);
    let command = [
        "reconcile",
        "once",
        "-n",
        "shop",
        "--workers=4",
        "--timeout=1s",
        "--request-timeout=2s",
    ];
    cluster.minrep(&command).end().await.with_code(9);
    assert_eq!(cluster.writes().len(), 4);
}

/// C-22: two at once.
#[tokio::test]
async fn two_passes_at_the_same_moment_raise_each_once() {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    for n in 0..50 {
        cluster.deployment("shop", &format!("web-{n:02}"), 1);
    }
    let slow = Action::DelayAnswer(Duration::from_millis(50));
    cluster
        .server
        .faults()
        .add(Rule::new(slow).verb(Verb::Patch));
    let command = ["reconcile", "once", "-A", "--workers=8"];
    let (one, two) = tokio::join!(
        cluster.minrep(&command).end(),
        cluster.minrep(&command).end()
    );
    one.with_code(0);
    two.with_code(0);
    let written = cluster.server.requests_where(|request| {
        is_write(request) && request.status.is_some_and(|status| status.is_success())
    });
    assert_eq!(written.len(), 50);
    for n in 0..50 {
        assert_eq!(cluster.replicas("shop", &format!("web-{n:02}")), 2);
    }
}
