use std::sync::Arc;

use controller_core::client::{ClientOptions, ResourceType, Scope, layered};
use controller_core::handler::HandlerFuncs;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::store::Deleted;
use controller_core::watch::{Object, Streaming, WatchOptions};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::sync::watch;

pub(crate) const CONFIG_MAPS: ResourceType =
    ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");

/// What a handler heard, in order.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<watch::Sender<Vec<String>>>);

/// With the namespace `shop`, and these ConfigMaps in it.
pub(crate) async fn server(names: &[&str]) -> SimApiServer {
    let server = SimApiServer::builder().start().await.unwrap();
    server.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    server.seed_all(names.iter().map(|name| config_map(name)));
    server
}

pub(crate) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
           "metadata": {"name": name, "namespace": "shop"}})
}

pub(crate) fn client(server: &SimApiServer) -> kube::Client {
    layered(server.service(), &ClientOptions::new("informer-tests"))
}

pub(crate) fn options(streaming: Streaming) -> InformerOptions<ConfigMap> {
    InformerOptions::new(WatchOptions::new(Scope::All).streaming(streaming))
}

pub(crate) fn informer(
    server: &SimApiServer,
    options: InformerOptions<ConfigMap>,
) -> SharedInformer<ConfigMap> {
    SharedInformer::new(client(server), CONFIG_MAPS, options)
}

impl Heard {
    pub(crate) fn handler(&self) -> HandlerFuncs<ConfigMap> {
        let (add, update, delete) = (self.clone(), self.clone(), self.clone());
        HandlerFuncs::new()
            .named("heard")
            .on_add(move |new: &Arc<ConfigMap>, initial| {
                add.note(if initial { "initial" } else { "added" }, new);
            })
            .on_update(move |_, new| update.note("updated", new))
            .on_delete(move |deleted| match deleted {
                Deleted::Observed(last) => delete.note("deleted", last),
                Deleted::FinalStateUnknown(stone) => delete.note("vanished", &stone.last_known),
            })
    }

    /// Waits until so many have been heard, and returns all of them.
    pub(crate) async fn until(&self, count: usize) -> Vec<String> {
        let mut heard = self.0.subscribe();
        let enough = heard.wait_for(|heard| heard.len() >= count).await;
        enough.unwrap().clone()
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    fn note(&self, word: &str, object: &ConfigMap) {
        let text = format!("{word} {}", object.key().name());
        self.0.send_modify(|heard| heard.push(text));
    }
}
