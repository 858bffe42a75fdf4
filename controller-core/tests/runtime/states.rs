//! What a run tells of its watches.

use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::runtime::RunOptions;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::sleep;
use tracing::Level;

use crate::harness::{Scene, deployment, options};

/// Longer than a server lets a watch live.
const A_WATCH: Duration = Duration::from_secs(700);

/// Listing, watching, why it cannot go on, watching again: each once. Not a word of watches
/// that a server ends, and one of a version that expired.
#[tokio::test(start_paused = true)]
async fn each_change_of_state_is_told_once() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let mut scene = Scene::new([deployment("web", 2)]).await;
    scene.run(RunOptions {
        resync: None,
        ..options()
    });
    scene.until(|said| !said.is_empty()).await;
    sleep(A_WATCH).await;

    // The version expires under a watch that is well.
    let expired = Rule::new(Action::expired_in_stream(1))
        .verb(Verb::Watch)
        .resource("deployments")
        .attempts(1);
    scene.server.faults().add(expired);
    sleep(A_WATCH).await;
    for replicas in [3, 4] {
        scene.server.mutate("deployments", "shop", "web", |web| {
            web["spec"]["replicas"] = json!(replicas);
        });
        sleep(Duration::from_secs(120)).await;
    }

    // For ten minutes the server has enough of us.
    let refused = Rule::new(Action::status(503).message("etcd is away")).resource("deployments");
    let refused = scene.server.faults().add(refused);
    sleep(2 * A_WATCH).await;
    scene.server.faults().remove(refused);
    sleep(A_WATCH).await;

    let text = log.text();
    let of_deployments = text
        .lines()
        .filter(|line| line.contains("deployments.apps"));
    let lines = of_deployments.collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(lines, @r#"
     INFO listing resource=deployments.apps
     INFO watching resource=deployments.apps
     INFO watch expired; listing again resource=deployments.apps
     WARN cannot list and watch resource=deployments.apps error="etcd is away"
     INFO watching again resource=deployments.apps
    "#);
    scene.stop().await;
}
