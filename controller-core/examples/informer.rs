//! One informer, three ways to listen to it, and a Lister to read from.
//!
//! ```text
//! cargo run -p controller-core --example informer
//! cargo run -p controller-core --example informer -- --kubeconfig ~/.kube/config
//! ```
//!
//! Without arguments it runs by itself, on a simulated server on which a few things happen.
//! With a kubeconfig it tells of the ConfigMaps of that cluster until Ctrl-C; it only reads.
#![expect(clippy::print_stdout, reason = "an example is for who runs it")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use controller_core::client::{ClientOptions, Loader, ResourceType, Scope, build, layered};
use controller_core::handler::{EventHandler, FilteringHandler, HandlerFuncs};
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::store::{Deleted, Lister, NAMESPACE_INDEX};
use controller_core::watch::{Object, WatchOptions};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

const CONFIG_MAPS: ResourceType = ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");

/// How often the third handler hears of everything again.
const RESYNC: Duration = Duration::from_millis(300);

/// What has been said, by all handlers.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<watch::Sender<Vec<String>>>);

/// The third way: a type of one's own, which can keep what it needs.
struct Sizes {
    lister: Lister<ConfigMap>,
    told: Told,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let told = Told::default();
    let printing = print(told.clone());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let listening = async {
        match &arguments[..] {
            [] => demonstrate(told.clone()).await,
            [option, path] if option == "--kubeconfig" => listen_to(path.into(), told).await,
            _ => Err("usage: informer [--kubeconfig PATH]".into()),
        }
    };
    tokio::select! {
        ended = listening => ended,
        never = printing => never,
    }
}

/// A few changes on a simulated server.
pub(crate) async fn demonstrate(told: Told) -> Result<(), Box<dyn Error>> {
    let server = SimApiServer::builder().start().await?;
    for namespace in ["shop", "office"] {
        server.seed(json!({"apiVersion": "v1", "kind": "Namespace",
                           "metadata": {"name": namespace}}));
    }
    server.seed(config_map("shop", "prices", "public", &json!({"tea": "3"})));
    server.seed(config_map("office", "plan", "secret", &json!({})));
    let client = layered(server.service(), &ClientOptions::new("informer/1.0"));
    let stop = CancellationToken::new();
    let script = async {
        told.until("sizes: again office/plan").await;
        told.say("somebody publishes office/plan".to_owned());
        server.mutate("configmaps", "office", "plan", |it| {
            it["metadata"]["labels"]["audience"] = json!("public");
        });
        told.until("public: office/plan came").await;
        told.say("somebody adds a price".to_owned());
        server.mutate("configmaps", "shop", "prices", |it| {
            it["data"]["coffee"] = json!("4");
        });
        told.until("public: shop/prices changed").await;
        told.say("somebody deletes shop/prices".to_owned());
        server.remove("configmaps", "shop", "prices");
        told.until("sizes: shop/prices is gone").await;
        told.until("public: shop/prices went").await;
        told.until("log: shop/prices went").await;
        stop.cancel();
    };
    tokio::join!(listen(client, told.clone(), stop.clone()), script);
    server.shutdown().await;
    Ok(())
}

/// Whatever happens on a real cluster.
async fn listen_to(kubeconfig: PathBuf, told: Told) -> Result<(), Box<dyn Error>> {
    let loader = Loader {
        kubeconfig: Some(kubeconfig),
        ..Loader::new()
    };
    let client = build(&loader.load()?, &ClientOptions::new("informer/1.0"))?;
    let stop = CancellationToken::new();
    let ((), interrupted) = tokio::join!(listen(client, told, stop.clone()), async {
        let interrupted = tokio::signal::ctrl_c().await;
        stop.cancel();
        interrupted
    });
    Ok(interrupted?)
}

/// One watch, one cache, three handlers, until `stop`.
async fn listen(client: kube::Client, told: Told, stop: CancellationToken) {
    let options = InformerOptions::new(WatchOptions::new(Scope::All))
        // Nobody here reads them, and they are often a third of an object.
        .transform(|mut it: ConfigMap| {
            it.metadata.managed_fields = None;
            Ok(it)
        });
    let informer = SharedInformer::new(client, CONFIG_MAPS, options);

    // The first way: closures. What is not given is not heard.
    let (added, gone) = (told.clone(), told.clone());
    let log = HandlerFuncs::new()
        .named("log")
        .on_add(move |new: &Arc<ConfigMap>, initial| {
            let word = if initial { "was there" } else { "came" };
            added.say(format!("log: {} {word}", new.key()));
        })
        .on_delete(move |deleted| gone.say(format!("log: {} went", deleted.last_known().key())));
    informer.add_handler(log);

    // The second way: a filter around another one. Who comes to pass it comes, who no longer
    // passes goes, though both live on.
    let (came, changed, went) = (told.clone(), told.clone(), told.clone());
    let public = HandlerFuncs::new()
        .named("public")
        .on_add(move |new: &Arc<ConfigMap>, _| came.say(format!("public: {} came", new.key())))
        .on_update(move |_, new| changed.say(format!("public: {} changed", new.key())))
        .on_delete(move |deleted| went.say(format!("public: {} went", deleted.last_known().key())));
    informer.add_handler(FilteringHandler::new(is_public, public));

    // The third way: the trait, and a resync, which repeats what the cache holds.
    let sizes = Sizes {
        lister: informer.lister(),
        told: told.clone(),
    };
    let registration = informer.add_handler_with_resync(sizes, RESYNC);

    tokio::join!(informer.run(stop.clone()), async {
        // Not only the cache is complete by then: this handler has heard of all of it.
        if stop.run_until_cancelled(registration.synced()).await != Some(true) {
            return;
        }
        let lister = informer.lister();
        told.say(format!("the cache holds {} ConfigMaps", lister.len()));
        for namespace in lister.index_values(NAMESPACE_INDEX).unwrap_or_default() {
            let of_it = lister.by_index(NAMESPACE_INDEX, &namespace);
            let count = of_it.unwrap_or_default().len();
            told.say(format!("of which {count} in {namespace}"));
        }
    });
}

fn is_public(it: &ConfigMap) -> bool {
    let labels = it.metadata.labels.as_ref();
    labels
        .and_then(|labels| labels.get("audience"))
        .map(String::as_str)
        == Some("public")
}

fn config_map(namespace: &str, name: &str, audience: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": name, "labels": {"audience": audience}},
        "data": data,
    })
}

/// Prints what is said, as it is said.
async fn print(told: Told) -> Result<(), Box<dyn Error>> {
    let (mut said, mut printed) = (told.0.subscribe(), 0);
    loop {
        let new: Vec<_> = said.borrow_and_update()[printed..].to_vec();
        printed += new.len();
        for text in new {
            println!("{text}");
        }
        said.changed().await?;
    }
}

// === impl Told ===

impl Told {
    fn say(&self, text: String) {
        self.0.send_modify(|said| said.push(text));
    }

    /// Waits until this has been said.
    async fn until(&self, text: &str) {
        let mut said = self.0.subscribe();
        // The sender is ours.
        let _ = said.wait_for(|said| said.iter().any(|it| it == text)).await;
    }

    /// All of it, in order.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test of this example"))]
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

// === impl Sizes ===

impl EventHandler<ConfigMap> for Sizes {
    fn on_add(&self, new: &Arc<ConfigMap>, _initial: bool) {
        let size = new.data.as_ref().map_or(0, BTreeMap::len);
        self.told
            .say(format!("sizes: {} has {size} entries", new.key()));
    }

    fn on_update(&self, old: &Arc<ConfigMap>, new: &Arc<ConfigMap>) {
        if old.data != new.data {
            self.on_add(new, false);
        }
    }

    fn on_resync(&self, object: &Arc<ConfigMap>) {
        self.told.say(format!("sizes: again {}", object.key()));
    }

    fn on_delete(&self, deleted: &Deleted<ConfigMap>) {
        let key = deleted.last_known().key();
        // By the time of a call the cache shows what the call tells, or something newer.
        let left = self.lister.len();
        self.told.say(format!("sizes: {key} is gone"));
        self.told.say(format!("sizes: {left} left"));
    }
}
