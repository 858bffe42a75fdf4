//! KEDA that is installed while a loop runs.

use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::runtime::{RunOptions, RunSummary};
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, RuleId, Verb};
use tokio::time::{Instant, sleep};
use tracing::Level;

use crate::harness::{Scene, deployment, options};
use crate::scaled_objects::{forbid, scaler, with_keda};

const SECOND: Duration = Duration::from_secs(1);

/// Longer than it takes to look twice.
const A_WHILE: Duration = Duration::from_secs(300);

const SKIPPED: &str = "shop/api skipped: autoscaled by ScaledObject scaler";

/// A server whose discovery and whose paths do not know KEDA yet.
struct Cluster {
    scene: Scene,
    without_keda: Vec<RuleId>,
}

// === impl Cluster ===

impl Cluster {
    /// Where a loop has raised `web`.
    async fn running() -> Self {
        let mut scene = with_keda([deployment("web", 1)]).await;
        let without_keda = hide_keda(&scene);
        scene.run(RunOptions {
            resync: None,
            ..options()
        });
        scene.until_replicas("web", 2).await;
        Self {
            scene,
            without_keda,
        }
    }

    fn install_keda(&mut self) {
        for rule in self.without_keda.drain(..) {
            self.scene.server.faults().remove(rule);
        }
    }

    /// Who may watch may have the list streamed.
    fn forbid(&self) -> [RuleId; 2] {
        [Verb::List, Verb::Watch].map(|verb| self.scene.server.faults().add(forbid(verb)))
    }

    fn remove_keda(&mut self) {
        self.without_keda = hide_keda(&self.scene);
    }

    /// A Deployment below the minimum, in the hands of a ScaledObject.
    fn add_api(&self) {
        let target = json!({"name": "api"});
        self.scene.server.seed(scaler(&target));
        self.scene.server.seed(deployment("api", 1));
    }

    fn asked(&self) -> usize {
        let about = |request: &sim_apiserver::Recorded| request.info.path.contains("keda.sh");
        self.scene.server.requests_where(about).len()
    }

    async fn stop(self) -> RunSummary {
        self.scene.stop().await
    }
}

/// As a real server answers: an unknown group is a plain 404, and not in the list of groups.
fn hide_keda(scene: &Scene) -> Vec<RuleId> {
    let plain = HeaderValue::from_static("text/plain");
    let unknown = || Action::status(404).body(plain.clone(), "404 page not found\n");
    let groups = json!({"kind": "APIGroupList", "groups": [
        {"name": "apps", "versions": [{"version": "v1"}]},
        // Another version of the group is another matter.
        {"name": "keda.sh", "versions": [{"version": "v2"}]},
    ]});
    let json = HeaderValue::from_static("application/json");
    let groups = Action::status(200).body(json, groups.to_string());
    let faults = scene.server.faults();
    vec![
        faults.add(Rule::new(unknown()).group("keda.sh")),
        faults.add(Rule::new(unknown()).path("/apis/keda.sh/v1alpha1")),
        faults.add(Rule::new(groups).path("/apis")),
    ]
}

#[tokio::test(start_paused = true)]
async fn its_scaled_objects_are_followed_without_a_restart() {
    let mut cluster = Cluster::running().await;
    sleep(A_WHILE).await;
    cluster.install_keda();
    sleep(A_WHILE).await;
    cluster.add_api();
    cluster.scene.until_said(SKIPPED).await;
    assert_eq!(cluster.scene.patches().len(), 1);
    // And as those that were there from the start: one that goes frees its Deployment.
    cluster
        .scene
        .server
        .remove("scaledobjects", "shop", "scaler");
    cluster.scene.until_replicas("api", 2).await;
    assert!(cluster.stop().await.completed);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_it_is_asked_seldom_and_for_little() {
    let cluster = Cluster::running().await;
    let asked = cluster.asked();
    assert_eq!(asked, 1);
    sleep(3610 * SECOND).await;
    assert_eq!(cluster.asked() - asked, 30);
    let lists = cluster.scene.server.requests_where(|request| {
        request.verb() == Verb::List && request.is_about("scaledobjects")
    });
    assert_eq!(lists.len(), 1);
    cluster.stop().await;
}

/// A decision from half a list would take those that are still missing for absent.
#[tokio::test(start_paused = true)]
async fn nothing_is_raised_between_its_arrival_and_its_first_list_and_that_is_said() {
    let (warnings, _guard) = CapturedLog::start(Level::WARN);
    let mut cluster = Cluster::running().await;
    let slow = Rule::new(Action::DelayAnswer(200 * SECOND));
    let slow = slow.verb(Verb::List).resource("scaledobjects");
    cluster.scene.server.faults().add(slow);
    let slow = Rule::new(Action::DelayAnswer(200 * SECOND));
    let slow = slow.verb(Verb::Watch).resource("scaledobjects");
    cluster.scene.server.faults().add(slow);
    cluster.install_keda();
    sleep(130 * SECOND).await;
    cluster.add_api();
    cluster.scene.server.seed(deployment("free", 1));
    sleep(20 * SECOND).await;
    assert_eq!(cluster.scene.patches().len(), 1);
    cluster.scene.server.faults().clear();
    cluster.scene.until_said(SKIPPED).await;
    cluster.scene.until_replicas("free", 2).await;
    assert_eq!(cluster.scene.patches().len(), 2);
    insta::assert_snapshot!(warnings.text(), @" WARN the server has scaledobjects.keda.sh by now: nothing is raised until they have been read");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_may_not_be_read_holds_until_it_may_or_is_gone() {
    for goes in [false, true] {
        let mut cluster = Cluster::running().await;
        let refused = cluster.forbid();
        cluster.install_keda();
        sleep(A_WHILE).await;
        cluster.scene.server.seed(deployment("free", 1));
        sleep(A_WHILE).await;
        assert_eq!(cluster.scene.patches().len(), 1);
        if goes {
            cluster.remove_keda();
        } else {
            for rule in refused {
                cluster.scene.server.faults().remove(rule);
            }
        }
        cluster.scene.until_replicas("free", 2).await;
        cluster.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_what_is_held() {
    let mut cluster = Cluster::running().await;
    cluster.forbid();
    cluster.install_keda();
    sleep(A_WHILE).await;
    for name in ["a", "b", "c"] {
        cluster.scene.server.seed(deployment(name, 1));
    }
    sleep(SECOND).await;
    let asked = Instant::now();
    let summary = cluster.stop().await;
    assert!(asked.elapsed() < SECOND, "{:?}", asked.elapsed());
    assert_eq!((summary.dropped_delayed, summary.abandoned), (3, 0));
}

/// Nor for an answer that does not come: whether the server has it still.
#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_an_answer_about_what_is_held() {
    let mut cluster = Cluster::running().await;
    cluster.forbid();
    cluster.install_keda();
    sleep(130 * SECOND).await;
    let hangs = Rule::new(Action::DelayAnswer(3600 * SECOND)).path("/apis");
    cluster.scene.server.faults().add(hangs);
    sleep(115 * SECOND).await;
    let under_way = cluster
        .scene
        .server
        .requests_where(|request| request.info.path == "/apis" && request.status.is_none());
    assert_eq!(under_way.len(), 1, "it is being asked");
    let asked = Instant::now();
    cluster.stop().await;
    assert!(asked.elapsed() < SECOND, "{:?}", asked.elapsed());
}
