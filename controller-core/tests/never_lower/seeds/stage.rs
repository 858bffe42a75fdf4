use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::time::{sleep, timeout};

use super::controller::Controller;

/// The server, and the controller if it lives.
pub(super) struct Stage {
    pub(super) server: SimApiServer,
    pub(super) controller: Controller,
}

/// The Deployments of namespace `shop`.
pub(super) const NAMES: [&str; 3] = ["api", "cart", "web"];

/// What the controller raises to.
pub(super) const MIN: i64 = 2;

/// A fight may put a raise off for an hour.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

// === impl Stage ===

impl Stage {
    pub(super) async fn set(random: &mut StdRng) -> Self {
        let server = SimApiServer::builder().start().await.unwrap();
        server.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
        for name in NAMES {
            server.seed(deployment(name, random.random_range(0..4)));
        }
        let controller = Controller::start(&server);
        Self { server, controller }
    }

    pub(super) async fn restart(&mut self) {
        self.controller.crash().await;
        self.controller = Controller::start(&self.server);
    }

    /// Time passes for everybody.
    pub(super) async fn wait(&self, time: Duration) {
        sleep(time).await;
    }

    /// Nothing goes wrong any more, and nobody else changes anything: after a while all is
    /// as the rule wants it.
    pub(super) async fn calm_down(&mut self) -> Result<(), String> {
        self.server.faults().clear();
        if self.controller.is_dead() {
            self.controller = Controller::start(&self.server);
        }
        let settled = self.server.wait_for(|server| unsettled(server).is_empty());
        let settled = timeout(PATIENCE, settled).await;
        let left = unsettled(&self.server);
        self.controller.stop().await;
        match settled {
            Ok(()) => Ok(()),
            Err(_) => Err(format!("still below the minimum: {}", left.join(", "))),
        }
    }
}

pub(super) fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": {"demo/min-replicas": "true"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}},
                         "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    })
}

pub(super) fn autoscaler(name: &str) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "minReplicas": 1, "maxReplicas": 5,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
        },
    })
}

/// Whether the rule is to look after it.
pub(super) fn opted_in(deployment: &Value) -> bool {
    deployment["metadata"]["labels"]["demo/min-replicas"] == "true"
}

fn unsettled(server: &SimApiServer) -> Vec<String> {
    let deployments = server.objects("deployments");
    let wants = |deployment: &&Value| {
        let name = deployment["metadata"]["name"].as_str().unwrap();
        let autoscaler = server.object("horizontalpodautoscalers", "shop", name);
        opted_in(deployment)
            && deployment["metadata"]["deletionTimestamp"].is_null()
            && deployment["spec"]["replicas"].as_i64().unwrap() < MIN
            && autoscaler.is_none()
    };
    let wanting = deployments.iter().filter(wants);
    wanting
        .map(|deployment| deployment["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}
