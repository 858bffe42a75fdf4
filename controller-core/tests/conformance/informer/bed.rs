//! A server that keeps to a script, and an informer of its ConfigMaps.
//!
//! Over a socket and in real time: nothing here waits for a time to pass, only for something
//! to happen.
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use controller_core::client::{ClientOptions, Environment, Loader, ResourceType, Scope, build};
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::{ReflectorStatus, Streaming, WatchOptions};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, StreamFault, Verb};
use tokio_util::sync::CancellationToken;

use super::heard::Heard;

pub(crate) const CONFIG_MAPS: ResourceType =
    ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");

/// The two ways to list. What handlers hear is the same.
pub(crate) const WAYS: [Streaming; 2] = [Streaming::Auto, Streaming::Never];

pub(crate) struct Bed {
    pub(crate) server: SimApiServer,
    pub(crate) informer: SharedInformer<ConfigMap>,
    way: Streaming,
    /// How many watches have been scripted.
    watches: AtomicU64,
}

/// How a watch goes: after `seen` changes it loses `missed` of them, and then is told that its
/// version has expired, so that the informer has to list.
pub(crate) struct Gap {
    /// How many objects there are when the list before it is answered.
    pub(crate) listed: u64,
    pub(crate) seen: u64,
    pub(crate) missed: u64,
}

/// A client with all of its layers, over a socket.
pub(crate) fn client(server: &SimApiServer) -> kube::Client {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config");
    server.write_kubeconfig(&file).unwrap();
    let mut loader = Loader::new();
    loader.environment = Environment::empty();
    loader.kubeconfig = Some(file);
    build(&loader.load().unwrap(), &ClientOptions::new("conformance")).unwrap()
}

/// What to watch, with short pauses after failures: how long they are is tested elsewhere.
pub(crate) fn watch_options(way: Streaming) -> WatchOptions {
    let millis = Duration::from_millis;
    WatchOptions::new(Scope::All)
        .streaming(way)
        .backoff(millis(5), millis(20))
}

/// A ConfigMap that holds one number.
pub(crate) fn config_map(name: &str, number: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
           "metadata": {"name": name, "namespace": "shop"},
           "data": {"number": number.to_string()}})
}

/// Ends the test if what should happen does not.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    let soon = tokio::time::timeout(Duration::from_secs(60), future);
    soon.await.expect("it should have happened by now")
}

// === impl Bed ===

impl Bed {
    /// With these in the cluster.
    pub(crate) async fn new(way: Streaming, known: &[(&str, u32)]) -> Self {
        Self::with(way, known, |options| options).await
    }

    pub(crate) async fn with(
        way: Streaming,
        known: &[(&str, u32)],
        options: impl FnOnce(InformerOptions<ConfigMap>) -> InformerOptions<ConfigMap>,
    ) -> Self {
        // Where a line is counted, none comes by itself.
        let builder = SimApiServer::builder().bookmark_interval(Duration::from_secs(3600));
        let server = builder.start().await.unwrap();
        Self::at(server, way, known, options)
    }

    pub(crate) fn at(
        server: SimApiServer,
        way: Streaming,
        known: &[(&str, u32)],
        options: impl FnOnce(InformerOptions<ConfigMap>) -> InformerOptions<ConfigMap>,
    ) -> Self {
        server.seed_all(known.iter().map(|(name, number)| config_map(name, *number)));
        let options = options(InformerOptions::new(watch_options(way)));
        let informer = SharedInformer::new(client(&server), CONFIG_MAPS, options);
        Self {
            server,
            informer,
            way,
            watches: AtomicU64::new(0),
        }
    }

    /// Scripts the next watch that has no script yet.
    pub(crate) fn gap(&self, gap: &Gap) {
        let at = self.first_line(gap.listed) + gap.seen;
        let expired = Action::expired_in_stream(at + gap.missed);
        let rule = if gap.missed == 0 {
            Rule::new(expired)
        } else {
            let dropped = StreamFault::Dropped {
                at: at.into(),
                lines: gap.missed,
            };
            Rule::new(dropped).then(expired)
        };
        self.script(rule);
    }

    /// In the next watch that has no script yet, these lines stand in place of those of the
    /// `nth` changes, counted from 0.
    pub(crate) fn lines_instead(&self, listed: u64, lines: &[(u64, String)]) {
        let first = self.first_line(listed);
        let actions = lines
            .iter()
            .map(|(nth, line)| Action::malformed(first + nth, line));
        let rule = actions.fold(None, |rule: Option<Rule>, action| {
            Some(match rule {
                None => Rule::new(action),
                Some(rule) => rule.then(action),
            })
        });
        self.script(rule.unwrap());
    }

    /// A line that says `what` about an object, as if that were the `nth` change.
    pub(crate) fn line(&self, what: &str, name: &str, number: u32, nth: u64) -> String {
        let known = self.server.object("configmaps", "shop", name);
        let mut object = known.unwrap_or_else(|| config_map(name, number));
        object["data"]["number"] = number.to_string().into();
        object["metadata"]["resourceVersion"] = self.version(nth).into();
        format!(r#"{{"type":"{what}","object":{object}}}"#)
    }

    pub(crate) fn script(&self, rule: Rule) {
        let nth = self.watches.fetch_add(1, Ordering::Relaxed) + 1;
        let rule = rule.verb(Verb::Watch).resource("configmaps").attempts(nth);
        self.server.faults().add(rule);
    }

    /// How many lines of a watch come before the first change: a streamed list is one line an
    /// object and a bookmark.
    fn first_line(&self, listed: u64) -> u64 {
        match self.way {
            Streaming::Auto => listed + 1,
            Streaming::Never => 0,
        }
    }

    /// The version that the `nth` change from now on will have, counted from 0.
    pub(crate) fn version(&self, nth: u64) -> String {
        (self.server.revision() + 1 + nth).to_string()
    }

    pub(crate) fn add(&self, name: &str, number: u32) {
        assert!(self.server.object("configmaps", "shop", name).is_none());
        self.server.seed(config_map(name, number));
    }

    pub(crate) fn change(&self, name: &str, number: u32) {
        let changed = self.server.mutate("configmaps", "shop", name, |it| {
            it["data"]["number"] = number.to_string().into();
        });
        assert!(changed, "there is no {name}");
    }

    pub(crate) fn remove(&self, name: &str) {
        assert!(
            self.server.remove("configmaps", "shop", name),
            "there is no {name}"
        );
    }

    /// Runs the informer for as long as the script takes.
    pub(crate) async fn play(&self, script: impl Future) {
        let stop = CancellationToken::new();
        soon(async {
            tokio::join!(self.informer.run(stop.clone()), async {
                script.await;
                stop.cancel();
            })
        })
        .await;
    }

    /// Waits until so many lists are complete.
    pub(crate) async fn listed(&self, times: u64) {
        self.status(|now| now.lists >= times).await;
    }

    pub(crate) async fn status(&self, holds: impl FnMut(&ReflectorStatus) -> bool) {
        self.informer.status().wait_for(holds).await.unwrap();
    }

    /// Adds a handler that notes everything.
    pub(crate) fn listen(&self) -> Heard {
        let heard = Heard::new(self.informer.lister());
        self.informer.add_handler(heard.handler());
        heard
    }

    /// Everything that was heard, once everything has been: one more object comes and goes, and
    /// all that was before it is heard before it.
    pub(crate) async fn all(&self, heard: &Heard) -> Vec<String> {
        self.add(Heard::LAST, 0);
        let all = heard.until_last().await;
        self.remove(Heard::LAST);
        all
    }

    pub(crate) async fn close(self) {
        self.server.shutdown().await;
    }
}
