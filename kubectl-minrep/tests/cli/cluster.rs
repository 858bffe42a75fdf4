//! A simulated cluster and the kubeconfig that leads to it.

use std::path::PathBuf;

use serde_json::{Value, json};
use sim_apiserver::faults::Verb;
use sim_apiserver::{Builder, Recorded, SimApiServer};
use tempfile::TempDir;

use crate::process::Minrep;

pub(crate) struct Cluster {
    pub(crate) server: SimApiServer,
    directory: TempDir,
}

// === impl Cluster ===

impl Cluster {
    /// With the namespace `shop`, and `web` (1) in it.
    pub(crate) async fn with_web() -> Self {
        let cluster = Self::start(SimApiServer::builder()).await;
        cluster.deployment("shop", "web", 1);
        cluster
    }

    /// With the namespace `shop`, empty.
    pub(crate) async fn start(builder: Builder) -> Self {
        let server = builder.start().await.expect("a port is free");
        server.seed(json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"},
        }));
        let directory = TempDir::new().expect("a directory can be made");
        let cluster = Self { server, directory };
        cluster
            .server
            .write_kubeconfig(&cluster.kubeconfig())
            .expect("a file can be written");
        cluster
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("config")
    }

    pub(crate) fn minrep(&self, arguments: &[&str]) -> Minrep {
        Minrep::new(arguments).env("KUBECONFIG", self.kubeconfig())
    }

    /// An opted-in Deployment.
    pub(crate) fn deployment(&self, namespace: &str, name: &str, replicas: i32) {
        let labels = json!({"demo/min-replicas": "true"});
        self.labelled(namespace, name, replicas, &labels);
    }

    pub(crate) fn labelled(&self, namespace: &str, name: &str, replicas: i32, labels: &Value) {
        self.server.seed(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "c", "image": "i"}]},
                },
            },
        }));
    }

    pub(crate) fn replicas(&self, namespace: &str, name: &str) -> i64 {
        let deployment = self.server.object("deployments", namespace, name);
        replicas_of(deployment.as_ref()).expect("it is there")
    }

    pub(crate) async fn wait_for_replicas(&self, namespace: &str, name: &str, replicas: i64) {
        self.server
            .wait_for_object("deployments", namespace, name, |deployment| {
                replicas_of(deployment) == Some(replicas)
            })
            .await;
    }

    /// Every request that could have changed something.
    pub(crate) fn writes(&self) -> Vec<Recorded> {
        self.server.requests_where(is_write)
    }
}

pub(crate) fn is_write(request: &Recorded) -> bool {
    !matches!(request.verb(), Verb::Get | Verb::List | Verb::Watch)
}

fn replicas_of(deployment: Option<&Value>) -> Option<i64> {
    deployment?["spec"]["replicas"].as_i64()
}
