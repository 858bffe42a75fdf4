use std::sync::Arc;
use std::time::Duration;

use controller_core::client::Scope;
use controller_core::controllers::min_replicas::{Metrics, Reporter, Settings, Verdict};
use controller_core::runtime::{
    OnceOptions, OnceReport, RetryDelays, RunOptions, RunSummary, Targets, once, run,
};
use serde_json::{Value, json};
use sim_apiserver::Recorded;
use sim_apiserver::faults::Verb;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// min-replicas, as it runs on a cluster.
pub(crate) struct Controller {
    verdicts: Arc<Verdicts>,
    shutdown: CancellationToken,
    run: JoinSet<RunSummary>,
}

/// Each verdict as `shop/web scaled from 1 to 2`, in order.
#[derive(Default)]
struct Verdicts(watch::Sender<Vec<String>>);

impl Reporter for Verdicts {
    fn report(&self, verdict: &Verdict) {
        let said = format!("{} {verdict}", verdict.key);
        self.0.send_modify(|all| all.push(said));
    }
}

/// A Deployment that opted in.
pub(crate) fn deployment(server: &Server, name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": server.namespace(),
                     "labels": {"demo/min-replicas": "true"}},
        "spec": {"replicas": replicas,
                 "selector": {"matchLabels": {"app": name}},
                 "template": {"metadata": {"labels": {"app": name}},
                              "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    })
}

/// The requests about Deployments with this verb.
pub(crate) fn about_deployments(server: &Server, verb: Verb) -> Vec<Recorded> {
    server
        .sim()
        .requests_where(|it| it.verb() == verb && it.info.resource == "deployments")
}

/// One pass.
pub(crate) async fn pass(server: &Server) -> OnceReport {
    let options = OnceOptions {
        settings: Settings::default(),
        targets: Targets::OptedIn(scope(server)),
        workers: 2,
        max_changes: None,
        timeout: None,
        write_deadline: Duration::from_secs(31),
        progress: Default::default(),
    };
    let reporter: Arc<dyn Reporter> = Arc::new(Verdicts::default());
    let stop = CancellationToken::new();
    once(server.client(), options, reporter, stop)
        .await
        .unwrap()
}

fn scope(server: &Server) -> Scope {
    Scope::Namespace(server.namespace().to_owned())
}

// === impl Controller ===

impl Controller {
    pub(crate) fn start(server: &Server) -> Self {
        let verdicts = Arc::new(Verdicts::default());
        let shutdown = CancellationToken::new();
        let options = RunOptions {
            settings: Settings::default(),
            scope: scope(server),
            workers: 2,
            max_raises_per_minute: None,
            retry: RetryDelays::default(),
            metrics: Metrics::default(),
            resync: None,
            shutdown_grace_period: Duration::from_secs(25),
            write_deadline: Duration::from_secs(31),
            reconcile_deadline: Some(Duration::from_secs(62)),
            worker_metrics: Default::default(),
            queue_metrics: Default::default(),
            events: None,
            event_metrics: Default::default(),
        };
        let reporter = Arc::clone(&verdicts) as Arc<dyn Reporter>;
        let running = run(server.client(), options, reporter, shutdown.clone());
        let mut run = JoinSet::new();
        run.spawn(async move { running.await.unwrap() });
        Self {
            verdicts,
            shutdown,
            run,
        }
    }

    /// Waits until a verdict reads like this.
    pub(crate) async fn says(&self, verdict: &str) {
        let mut said = self.verdicts.0.subscribe();
        let has_said = |all: &Vec<String>| all.iter().any(|it| it == verdict);
        said.wait_for(has_said).await.unwrap();
    }

    pub(crate) async fn stop(mut self) {
        self.shutdown.cancel();
        self.run.join_next().await.unwrap().unwrap();
    }
}
