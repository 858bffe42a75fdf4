//! A controller over a simulated server, with caches that show what a test lets them see.

use std::sync::Arc;

use controller_core::client::{ClientOptions, ObjectKey, layered};
use controller_core::controllers::min_replicas::{
    Caches, Deployment, HorizontalPodAutoscaler, MinReplicas, Namespace, Reporter, ScaledObject,
    Settings, TARGET_INDEX, Verdict, scaled_object_index, target_index,
};
use controller_core::store::{CacheWriter, IndexFunction, cache};
use controller_core::watch::{News, Object, Unreadable, WatchEvent};
use controller_core::worker::{Outcome, ReconcileError, Reconciler};
use controller_core::write::ScaleWriter;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sim_apiserver::faults::{Faults, Verb};
use sim_apiserver::{Recorded, SimApiServer};
use tokio::time::Duration;

/// How long the client waits for an answer.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct Bed {
    pub(crate) server: SimApiServer,
    pub(crate) writer: Arc<ScaleWriter>,
    pub(crate) reports: Arc<Reports>,
    controller: MinReplicas<Arc<ScaleWriter>>,
    deployments: CacheWriter<Deployment>,
    autoscalers: CacheWriter<HorizontalPodAutoscaler>,
    scaled_objects: CacheWriter<ScaledObject>,
    namespaces: CacheWriter<Namespace>,
}

/// Every verdict that was reported, as a line.
#[derive(Default)]
pub(crate) struct Reports(Mutex<Vec<String>>);

impl Reporter for Reports {
    fn report(&self, verdict: &Verdict) {
        self.0.lock().push(verdict.to_string());
    }
}

impl Reports {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

// === impl Bed ===

impl Bed {
    pub(crate) async fn start(settings: Settings) -> Self {
        let server = SimApiServer::builder().start().await.unwrap();
        server.seed(json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"},
        }));
        let options = ClientOptions {
            request_timeout: Some(REQUEST_TIMEOUT),
            ..ClientOptions::new("test")
        };
        let client = layered(server.service(), &options);
        let (deployments, deployment_lister) = cache(Vec::new());
        let index: IndexFunction<HorizontalPodAutoscaler> = Box::new(target_index);
        let (autoscalers, autoscaler_lister) = cache(vec![(TARGET_INDEX, index)]);
        let index: IndexFunction<ScaledObject> = Box::new(scaled_object_index);
        let (scaled_objects, scaled_object_lister) = cache(vec![(TARGET_INDEX, index)]);
        let (mut namespaces, namespace_lister) = cache(Vec::new());
        let caches = Caches {
            deployments: deployment_lister,
            autoscalers: Some(autoscaler_lister),
            scaled_objects: Some(scaled_object_lister),
            namespaces: Some(namespace_lister),
        };
        put(
            &mut namespaces,
            server.object("namespaces", "", "shop").unwrap(),
        );
        let writer = Arc::new(ScaleWriter::new(client.clone()));
        let reports = Arc::new(Reports::default());
        let controller = MinReplicas::new(
            caches,
            client,
            settings,
            Arc::clone(&writer),
            Arc::clone(&reports) as Arc<dyn Reporter>,
        )
        .unwrap();
        Self {
            server,
            writer,
            reports,
            controller,
            deployments,
            autoscalers,
            scaled_objects,
            namespaces,
        }
    }

    /// With the settings as a first user meets them, and `shop/web` at 1 replica on the
    /// server and in the cache.
    pub(crate) async fn with_web() -> Self {
        let mut bed = Self::start(Settings::default()).await;
        bed.seed("web", |_| ());
        bed
    }

    /// An opted-in Deployment at 1 replica, on the server and in the cache.
    pub(crate) fn seed(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        self.server.seed(deployment(name, change));
        self.observe(name);
    }

    /// Lets the cache see what the server has.
    pub(crate) fn observe(&mut self, name: &str) {
        let stored = self.server.object("deployments", "shop", name).unwrap();
        put(&mut self.deployments, stored);
    }

    pub(crate) fn observe_autoscaler(&mut self, name: &str, target: Value) {
        let mut object = json!({
            "metadata": {"name": name, "namespace": "shop", "resourceVersion": "1"},
        });
        object["spec"]["scaleTargetRef"] = target;
        put(&mut self.autoscalers, object);
    }

    /// An autoscaler of `web` on the server and in the cache.
    pub(crate) fn seed_autoscaler(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        self.server.seed(autoscaler(name, change));
        let stored = self
            .server
            .object("horizontalpodautoscalers", "shop", name)
            .unwrap();
        put(&mut self.autoscalers, stored);
    }

    pub(crate) fn observe_scaled_object(&mut self, name: &str, target: &Value) {
        let object = json!({
            "metadata": {"name": name, "namespace": "shop", "resourceVersion": "1"},
            "spec": {"scaleTargetRef": target},
        });
        put(&mut self.scaled_objects, object);
    }

    /// The cache hears of an autoscaler of this namespace that it cannot read.
    pub(crate) fn hide_autoscaler(&mut self, namespace: &str) {
        self.autoscalers
            .apply(unreadable(ObjectKey::namespaced(namespace, "odd")));
    }

    /// The autoscalers are listed, as one item that does not even tell its name.
    pub(crate) fn list_nameless_autoscaler(&mut self) {
        list_nameless(&mut self.autoscalers);
    }

    /// The same, of the ScaledObjects.
    pub(crate) fn list_nameless_scaled_object(&mut self) {
        list_nameless(&mut self.scaled_objects);
    }

    /// The cache hears of a ScaledObject of this namespace that it cannot read.
    pub(crate) fn hide_scaled_object(&mut self, namespace: &str) {
        self.scaled_objects
            .apply(unreadable(ObjectKey::namespaced(namespace, "odd")));
    }

    /// The newest state of the namespace `shop` could not be read.
    pub(crate) fn outdate_namespace(&mut self) {
        self.namespaces
            .apply(unreadable(ObjectKey::cluster("shop")));
    }

    /// The autoscaler's `minReplicas` on the server.
    pub(crate) fn min_replicas(&self) -> Value {
        let autoscaler = self
            .server
            .object("horizontalpodautoscalers", "shop", "web-hpa")
            .unwrap();
        autoscaler["spec"]["minReplicas"].clone()
    }

    /// Pauses `shop` on the server.
    pub(crate) fn pause_namespace(&self) {
        let there = self.server.mutate("namespaces", "", "shop", |object| {
            object["metadata"]["annotations"] = json!({"minrep.dev/paused": "true"});
        });
        assert!(there);
    }

    /// Lets the cache see the namespace as the server has it.
    pub(crate) fn observe_namespace(&mut self) {
        let stored = self.server.object("namespaces", "", "shop").unwrap();
        put(&mut self.namespaces, stored);
    }

    /// Leaves the cache without any namespace, as if it had not heard of one yet.
    pub(crate) fn unobserve_namespaces(&mut self) {
        self.namespaces
            .apply(WatchEvent::ListStarted { fresh: false });
        self.namespaces.apply(WatchEvent::ListDone {
            resource_version: "1000".into(),
            restored: false,
        });
    }

    /// Changes the server's object behind the cache's back.
    pub(crate) fn meanwhile(&self, change: impl FnOnce(&mut Value)) {
        assert!(self.server.mutate("deployments", "shop", "web", change));
    }

    pub(crate) fn faults(&self) -> &Faults {
        self.server.faults()
    }

    pub(crate) async fn settle(&self, name: &str) -> Verdict {
        self.controller.settle(&key(name)).await
    }

    /// [`settle`](Self::settle) of `web`, as the line that is reported.
    pub(crate) async fn settle_web(&self) -> String {
        self.settle("web").await.to_string()
    }

    pub(crate) async fn reconcile_web(&self) -> Result<Outcome, ReconcileError> {
        self.controller.reconcile(&key("web")).await
    }

    /// What the server has, `None` if it has no such Deployment.
    pub(crate) fn replicas(&self, name: &str) -> Option<i64> {
        let object = self.server.object("deployments", "shop", name)?;
        object["spec"]["replicas"].as_i64()
    }

    /// The writes that arrived, in order.
    pub(crate) fn patches(&self) -> Vec<Recorded> {
        self.server
            .requests_where(|request| request.verb() == Verb::Patch)
    }

    /// All requests that arrived: `PATCH web/scale 409`, `GET web 200`.
    pub(crate) fn exchange(&self) -> Vec<String> {
        let word = |request: &Recorded| {
            let info = &request.info;
            let name = info.name.as_deref().unwrap_or_default();
            let subresource = info.subresource.as_deref().map(|it| format!("/{it}"));
            let status = request.status.map_or(0, |status| status.as_u16());
            format!(
                "{} {name}{} {status}",
                request.method,
                subresource.unwrap_or_default()
            )
        };
        self.server.requests().iter().map(word).collect()
    }
}

fn list_nameless<T: Object>(cache: &mut CacheWriter<T>) {
    cache.apply(WatchEvent::ListStarted { fresh: false });
    cache.apply(WatchEvent::Unreadable(Unreadable {
        key: None,
        resource_version: None,
        during: News::Listed,
        error: "an object of another kind".to_owned(),
    }));
    cache.apply(WatchEvent::ListDone {
        resource_version: "1000".into(),
        restored: false,
    });
}

fn unreadable<T>(key: ObjectKey) -> WatchEvent<T> {
    WatchEvent::Unreadable(Unreadable {
        key: Some(key),
        resource_version: None,
        during: News::Changed,
        error: "data error".to_owned(),
    })
}

pub(crate) fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("shop", name)
}

pub(crate) fn deployment(name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "labels": {"demo/min-replicas": "true"},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    change(&mut object);
    object
}

/// A HorizontalPodAutoscaler of `shop/web`, from 1 to 5.
pub(crate) fn autoscaler(name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut object = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1, "maxReplicas": 5,
        },
    });
    change(&mut object);
    object
}

fn put<T: Object + DeserializeOwned>(cache: &mut CacheWriter<T>, object: Value) {
    cache.apply(WatchEvent::Modified(
        serde_json::from_value(object).unwrap(),
    ));
}
