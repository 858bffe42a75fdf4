use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use controller_core::client::{ClientOptions, Environment, Loader, ResourceType, Scope, build};
use controller_core::watch::{Streaming, WatchOptions};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, VersionMatch};
use kube::{Api, Client};
use serde_json::{Value, json};
use sim_apiserver::faults::{Action, Faults, Place, Proxy, Rule, Seen, Verb};
use sim_apiserver::{Builder, SimApiServer};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::{real, time};

pub(crate) const CONFIG_MAPS: ResourceType =
    ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");

/// An API server with a namespace for one test, and everything between it and a client.
pub(crate) struct Server {
    backend: Backend,
    faults: Faults,
    client: Client,
    namespace: String,
    _kubeconfig: TempDir,
}

/// Which server it is.
enum Backend {
    Simulated(Box<SimApiServer>),
    /// Behind a proxy. The client is the way around that.
    Real(Proxy, Client),
}

// === impl Server ===

impl Server {
    /// The simulated one; for a test below `both` the real one, if the environment names it.
    pub(crate) async fn start() -> Self {
        if !time::is_real() {
            return Self::of(SimApiServer::builder()).await;
        }
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let namespace = format!("conformance-{}-{count}", std::process::id());
        let direct = real::direct();
        let object = json!({"metadata": {"name": namespace}});
        let namespaces = Api::<Namespace>::all(direct.clone());
        let object = serde_json::from_value(object).unwrap();
        namespaces
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
        let faults = Faults::default();
        let proxy = real::proxy(direct.clone(), faults.clone()).await;
        let (client, kubeconfig) = client_of(&kubeconfig(&proxy.url()));
        Self::new(
            Backend::Real(proxy, direct),
            faults,
            client,
            namespace,
            kubeconfig,
        )
    }

    /// A simulated one that is set up like this.
    pub(crate) async fn of(builder: Builder) -> Self {
        let sim = builder.start().await.unwrap();
        let namespace = "shop".to_owned();
        sim.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        let (client, kubeconfig) = client_of(&sim.kubeconfig());
        let faults = sim.faults().clone();
        Self::new(
            Backend::Simulated(Box::new(sim)),
            faults,
            client,
            namespace,
            kubeconfig,
        )
    }

    fn new(
        backend: Backend,
        faults: Faults,
        client: Client,
        namespace: String,
        kubeconfig: TempDir,
    ) -> Self {
        faults.keep_requests();
        Self {
            backend,
            faults,
            client,
            namespace,
            _kubeconfig: kubeconfig,
        }
    }

    /// The simulated one, with a client that reaches it through another address.
    pub(crate) fn reached_by(mut self, address: SocketAddr) -> Self {
        let own = self.sim().address().to_string();
        let kubeconfig = self.sim().kubeconfig();
        (self.client, self._kubeconfig) =
            client_of(&kubeconfig.replace(&own, &address.to_string()));
        self
    }

    /// The product's own client, with all its layers, over a socket, through the faults.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The simulated server: what only that can do.
    pub(crate) fn sim(&self) -> &SimApiServer {
        match &self.backend {
            Backend::Simulated(sim) => sim,
            Backend::Real(..) => panic!("a test below `both` asks for the simulated server"),
        }
    }

    /// The ConfigMaps of the namespace.
    pub(crate) fn options(&self, streaming: Streaming) -> WatchOptions {
        let options =
            WatchOptions::new(Scope::Namespace(self.namespace.clone())).streaming(streaming);
        match &self.backend {
            Backend::Simulated(_) => options,
            // A controller puts that into every namespace.
            Backend::Real(..) => options.fields("metadata.name!=kube-root-ca.crt"),
        }
    }

    /// Makes a ConfigMap, or changes it, not through the faults. Returns its version.
    pub(crate) async fn put(&self, name: &str, value: &str) -> String {
        let object = self.config_map(name, value);
        match &self.backend {
            Backend::Simulated(sim) => {
                let update = |it: &mut Value| it["data"] = object["data"].clone();
                if !sim.mutate("configmaps", &self.namespace, name, update) {
                    sim.seed(object);
                }
                let stored = sim.object("configmaps", &self.namespace, name).unwrap();
                let version = stored["metadata"]["resourceVersion"].as_str();
                version.unwrap().to_owned()
            }
            Backend::Real(_, direct) => {
                let params = PatchParams::apply("conformance").force();
                let maps = Api::<ConfigMap>::namespaced(direct.clone(), &self.namespace);
                let stored = maps.patch(name, &params, &Patch::Apply(&object)).await;
                let version = stored.unwrap().metadata.resource_version.unwrap();
                until_cached(&maps, &version).await;
                version
            }
        }
    }

    /// Deletes a ConfigMap, not through the faults.
    pub(crate) async fn delete(&self, name: &str) {
        match &self.backend {
            Backend::Simulated(sim) => {
                assert!(sim.remove("configmaps", &self.namespace, name), "{name}");
            }
            Backend::Real(_, direct) => {
                let maps = Api::<ConfigMap>::namespaced(direct.clone(), &self.namespace);
                maps.delete(name, &DeleteParams::default()).await.unwrap();
                let newest = maps.list(&ListParams::default()).await.unwrap();
                until_cached(&maps, &newest.metadata.resource_version.unwrap()).await;
            }
        }
    }

    pub(crate) fn config_map(&self, name: &str, value: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
               "metadata": {"name": name, "namespace": self.namespace},
               "data": {"value": value}})
    }

    /// What the client asked for so far, like `list rv=0 limit=500`, `list next limit=500`,
    /// `stream rv=7` (a streamed list) and `watch rv=10`. No rv is `rv=`.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.faults.requests().iter().map(words).collect()
    }

    /// Waits until that many requests have come, and tells them.
    pub(crate) async fn asked_until(&self, count: usize) -> Vec<String> {
        let enough = |seen: &[Seen]| seen.len() >= count;
        let seen = self.faults.until_requests(enough).await;
        seen.iter().map(words).collect()
    }

    /// When each request came.
    pub(crate) fn asked_at(&self) -> Vec<Instant> {
        self.faults.requests().iter().map(|seen| seen.at).collect()
    }

    /// How long after the one before it each request came, in seconds.
    pub(crate) fn pauses(&self) -> Vec<f64> {
        let at = self.asked_at();
        at.windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64())
            .collect()
    }

    /// A query parameter of the nth request, counted from 0.
    pub(crate) fn query(&self, nth: usize, key: &str) -> Option<String> {
        let seen = self.faults.requests();
        seen[nth].info.query(key).map(ToOwned::to_owned)
    }

    /// Waits until the nth request, counted from 0, has ended: its answer was sent to the end,
    /// or the client has gone.
    pub(crate) async fn ended(&self, nth: usize) -> Instant {
        let has_ended = |seen: &[Seen]| seen.get(nth).is_some_and(|seen| seen.ended.is_some());
        let seen = self.faults.until_requests(has_ended).await;
        seen[nth].ended.unwrap()
    }

    pub(crate) async fn stop(self) {
        drop(self.client);
        match self.backend {
            Backend::Simulated(sim) => sim.shutdown().await,
            Backend::Real(proxy, direct) => {
                proxy.shutdown().await;
                let namespaces = Api::<Namespace>::all(direct);
                let params = DeleteParams::background();
                namespaces.delete(&self.namespace, &params).await.unwrap();
            }
        }
    }
}

/// What a rule is about that is about lists, in whichever way they are read.
pub(crate) fn lists(streaming: Streaming, rule: Rule) -> Rule {
    match streaming {
        Streaming::Auto => rule.verb(Verb::Watch).query("sendInitialEvents", "true"),
        Streaming::Never => rule.verb(Verb::List),
    }
}

/// What a rule is about that is about watches which are no lists.
pub(crate) fn watches(rule: Rule) -> Rule {
    rule.verb(Verb::Watch).without("sendInitialEvents")
}

/// A rule for the first watch, once its list of so many objects is complete and so many events
/// have come behind it: `action` is given that place, of something that happens between events.
///
/// A server sends bookmarks when it likes, so that they count only where nothing else tells that
/// the list is complete.
pub(crate) fn first_watch<A: Into<Action>>(
    streaming: Streaming,
    listed: u64,
    seen: u64,
    action: impl FnOnce(Place) -> A,
) -> Rule {
    let at = match (streaming, seen) {
        // A bookmark ends a list that is streamed.
        (Streaming::Auto, 0) => Place::from(listed + 1),
        (Streaming::Never, 0) => Place::from(0),
        _ => nth_event(streaming, listed, seen),
    };
    on_first_watch(streaming, action(at).into())
}

/// A rule for one event of the first watch, that so many others come before, those not counted
/// that list so many objects: `action` is given its place.
pub(crate) fn event_of_first_watch<A: Into<Action>>(
    streaming: Streaming,
    listed: u64,
    seen: u64,
    action: impl FnOnce(Place) -> A,
) -> Rule {
    let at = nth_event(streaming, listed, seen);
    on_first_watch(streaming, action(at).into())
}

/// A rule for the nth watch, from the second on, lists left out that are not streamed.
pub(crate) fn nth_watch(streaming: Streaming, nth: u64, rule: Rule) -> Rule {
    watches(rule).attempts(match streaming {
        Streaming::Auto => nth - 1,
        Streaming::Never => nth,
    })
}

fn nth_event(streaming: Streaming, listed: u64, seen: u64) -> Place {
    match streaming {
        Streaming::Auto => Place::events(listed + seen),
        Streaming::Never => Place::events(seen),
    }
}

/// The first watch is the one that the list is streamed by, if it is.
fn on_first_watch(streaming: Streaming, action: Action) -> Rule {
    let rule = match streaming {
        Streaming::Auto => lists(streaming, Rule::new(action)),
        Streaming::Never => watches(Rule::new(action)),
    };
    rule.attempts(1)
}

/// A first list takes any version, and a real server answers it from a cache that may be behind
/// what it has just written: an object of before would then come as an event. It answers this
/// list once it has caught up.
async fn until_cached(maps: &Api<ConfigMap>, version: &str) {
    let fresh = ListParams::default().matching(VersionMatch::NotOlderThan);
    maps.list(&fresh.at(version)).await.unwrap();
}

fn words(seen: &Seen) -> String {
    let info = &seen.info;
    let mut words = match (info.verb, info.query("sendInitialEvents")) {
        (Verb::Watch, Some(_)) => "stream".to_owned(),
        (verb, _) => verb.to_string(),
    };
    match (info.query("continue"), info.query("resourceVersion")) {
        (Some(_), version) => {
            words += " next";
            // A token has a version of its own; both are refused by a real server.
            words += &version.map(|it| format!(" rv={it}")).unwrap_or_default();
        }
        (None, version) => words += &format!(" rv={}", version.unwrap_or_default()),
    }
    if let Some(limit) = info.query("limit") {
        words += &format!(" limit={limit}");
    }
    words
}

pub(crate) fn client_of(kubeconfig: &str) -> (Client, TempDir) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("config");
    std::fs::write(&path, kubeconfig).unwrap();
    let mut loader = Loader::new();
    loader.environment = Environment::empty();
    loader.kubeconfig = Some(path);
    let options = ClientOptions::new("conformance/1.0");
    (build(&loader.load().unwrap(), &options).unwrap(), directory)
}

/// One that leads there. JSON is YAML.
pub(crate) fn kubeconfig(server: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "real",
        "clusters": [{"name": "real", "cluster": {"server": server}}],
        "users": [{"name": "real", "user": {}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "real"}}],
    })
    .to_string()
}
