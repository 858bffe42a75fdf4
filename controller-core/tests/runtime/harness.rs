use std::sync::Arc;
use std::time::Duration;

use controller_core::client::{ClientOptions, Scope, layered};
use controller_core::controllers::min_replicas::{Metrics, Reporter, Settings, Verdict};
use controller_core::runtime::{
    NotSynced, OnceOptions, OnceReport, RetryDelays, RunOptions, RunSummary, Targets, once, run,
};
use serde_json::{Value, json};
use sim_apiserver::faults::{Rule, Verb};
use sim_apiserver::{Builder, Recorded, SimApiServer};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A simulated server with the namespace `shop`, and what the controller said.
pub(crate) struct Scene {
    pub(crate) server: SimApiServer,
    pub(crate) verdicts: Arc<Verdicts>,
    pub(crate) shutdown: CancellationToken,
    tasks: JoinSet<Result<RunSummary, NotSynced>>,
}

/// Every verdict as `shop/web scaled from 1 to 2`, in order.
#[derive(Default)]
pub(crate) struct Verdicts(watch::Sender<Vec<String>>);

pub(crate) fn options() -> RunOptions {
    RunOptions {
        settings: Settings::default(),
        scope: Scope::Namespace("shop".into()),
        workers: 2,
        max_raises_per_minute: None,
        metrics: Metrics::default(),
        retry: RetryDelays::default(),
        resync: Some(Duration::from_secs(30)),
        shutdown_grace_period: Duration::from_secs(25),
        write_deadline: Duration::from_secs(31),
        reconcile_deadline: Some(Duration::from_secs(62)),
        worker_metrics: Default::default(),
        queue_metrics: Default::default(),
        events: None,
        event_metrics: Default::default(),
    }
}

pub(crate) fn once_options() -> OnceOptions {
    OnceOptions {
        settings: Settings::default(),
        targets: Targets::OptedIn(Scope::Namespace("shop".into())),
        workers: 2,
        max_changes: None,
        timeout: None,
        write_deadline: Duration::from_secs(31),
        progress: Default::default(),
    }
}

/// A Deployment `shop/NAME` that opted in.
pub(crate) fn deployment(name: &str, replicas: i32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop",
                     "labels": {"demo/min-replicas": "true"}},
        "spec": {"replicas": replicas,
                 "selector": {"matchLabels": {"app": name}},
                 "template": {"metadata": {"labels": {"app": name}},
                              "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    })
}

pub(crate) fn autoscaler(name: &str, target: &str) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"minReplicas": 1, "maxReplicas": 5,
                 "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment",
                                    "name": target}},
    })
}

/// A rule for the writes of one Deployment.
pub(crate) fn writes_of(rule: Rule, name: &str) -> Rule {
    rule.verb(Verb::Patch)
        .resource("deployments/scale")
        .object(name.to_owned())
}

// === impl Scene ===

impl Scene {
    pub(crate) async fn new(objects: impl IntoIterator<Item = Value>) -> Self {
        Self::with_server(SimApiServer::builder(), objects).await
    }

    /// On a server that is set up in its own way.
    pub(crate) async fn with_server(
        builder: Builder,
        objects: impl IntoIterator<Item = Value>,
    ) -> Self {
        let server = builder.start().await.unwrap();
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
                               "metadata": {"name": "shop"}});
        server.seed(namespace);
        server.seed_all(objects);
        Self {
            server,
            verdicts: Arc::default(),
            shutdown: CancellationToken::new(),
            tasks: JoinSet::new(),
        }
    }

    pub(crate) fn client(&self) -> kube::Client {
        let options = ClientOptions {
            request_timeout: Some(Duration::from_secs(30)),
            ..ClientOptions::new("runtime-tests")
        };
        layered(self.server.service(), &options)
    }

    pub(crate) fn run(&mut self, options: RunOptions) {
        self.run_through(self.client(), options);
    }

    /// With a client that waits for an answer as long as it takes. A reconcile had better not
    /// have a deadline then.
    pub(crate) fn run_patiently(&mut self, options: RunOptions) {
        let patient = ClientOptions::new("runtime-tests");
        let client = layered(self.server.service(), &patient);
        self.run_through(client, options);
    }

    fn run_through(&mut self, client: kube::Client, options: RunOptions) {
        let reporter = Arc::clone(&self.verdicts) as Arc<dyn Reporter>;
        let running = run(client, options, reporter, self.shutdown.clone());
        self.tasks.spawn(running);
    }

    pub(crate) async fn once(&self, options: OnceOptions) -> Result<OnceReport, NotSynced> {
        let reporter = Arc::clone(&self.verdicts) as Arc<dyn Reporter>;
        once(self.client(), options, reporter, self.shutdown.clone()).await
    }

    /// What `run` returns when it ends by itself.
    pub(crate) async fn ended(&mut self) -> Result<RunSummary, NotSynced> {
        self.tasks
            .join_next()
            .await
            .expect("run was called")
            .unwrap()
    }

    /// Asks for the shutdown and waits for the end.
    pub(crate) async fn stop(mut self) -> RunSummary {
        self.shutdown.cancel();
        let summary = self.ended().await.unwrap();
        self.server.shutdown().await;
        summary
    }

    pub(crate) fn replicas(&self, name: &str) -> i64 {
        let object = self.server.object("deployments", "shop", name).unwrap();
        object["spec"]["replicas"].as_i64().unwrap()
    }

    pub(crate) fn scale_behind_our_back(&self, name: &str, replicas: i32) {
        self.server.mutate("deployments", "shop", name, |object| {
            object["spec"]["replicas"] = json!(replicas);
        });
    }

    pub(crate) async fn until_replicas(&self, name: &str, replicas: i64) {
        let there = |object: Option<&Value>| {
            object.is_some_and(|object| object["spec"]["replicas"] == json!(replicas))
        };
        self.server
            .wait_for_object("deployments", "shop", name, there)
            .await;
    }

    /// Waits until a verdict reads like this.
    pub(crate) async fn until_said(&self, verdict: &str) {
        self.until(|said| said.iter().any(|it| it == verdict)).await;
    }

    /// Waits until the verdicts are like this, but not for more than an hour of the
    /// paused clock.
    pub(crate) async fn until(&self, condition: impl Fn(&[String]) -> bool) {
        let mut changes = self.verdicts.0.subscribe();
        let reached = changes.wait_for(|said| condition(said));
        let reached = tokio::time::timeout(Duration::from_secs(3600), reached).await;
        if reached.is_err() {
            let said = self.verdicts.all();
            panic!("not reached: {:#?}", &said[said.len().saturating_sub(20)..]);
        }
    }

    pub(crate) fn patches(&self) -> Vec<Recorded> {
        self.server.requests_where(|it| it.verb() == Verb::Patch)
    }
}

// === impl Verdicts ===

impl Verdicts {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

impl Reporter for Verdicts {
    fn report(&self, verdict: &Verdict) {
        let said = format!("{} {verdict}", verdict.key);
        self.0.send_modify(|all| all.push(said));
    }
}
