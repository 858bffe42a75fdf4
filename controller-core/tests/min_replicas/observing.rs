//! What a decision is made from: the caches, or the live object.

use std::sync::Arc;

use controller_core::client::{ClientOptions, layered};
use controller_core::controllers::min_replicas::{
    Caches, DecisionLog, Deployment, HorizontalPodAutoscaler, MinReplicas, Settings,
};
use controller_core::store::cache;
use controller_core::worker::ReconcileError;
use controller_core::write::ScaleWriter;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::bed::{Bed, deployment};
use crate::fixture::settings;

fn targeting_web(api_version: &str) -> Value {
    json!({"apiVersion": api_version, "kind": "Deployment", "name": "web"})
}

#[tokio::test]
async fn an_autoscaler_is_found_by_its_target() {
    let mut bed = Bed::with_web().await;
    bed.observe_autoscaler(
        "api-hpa",
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}),
    );
    bed.observe_autoscaler("web-hpa", targeting_web("apps/v1"));
    assert_eq!(
        bed.settle_web().await,
        "skipped: autoscaled by HorizontalPodAutoscaler web-hpa"
    );
    assert!(bed.exchange().is_empty());
}

/// C-32.
#[tokio::test]
async fn of_several_autoscalers_one_that_works_is_named() {
    let mut bed = Bed::with_web().await;
    bed.observe_autoscaler("a-old", targeting_web("extensions/v1beta1"));
    assert_eq!(
        bed.settle_web().await,
        "skipped: targeted by HorizontalPodAutoscaler a-old, which may never scale it: \
         its target has apiVersion \"extensions/v1beta1\" where \"apps/v1\" is needed"
    );
    bed.observe_autoscaler("z-hpa", targeting_web("apps/v1"));
    bed.observe_autoscaler("y-hpa", targeting_web("apps/v1"));
    assert_eq!(
        bed.settle_web().await,
        "skipped: autoscaled by HorizontalPodAutoscaler y-hpa"
    );
}

#[tokio::test]
async fn a_paused_namespace_is_left_alone() {
    let mut bed = Bed::with_web().await;
    bed.observe_paused_namespace();
    assert_eq!(
        bed.settle_web().await,
        "skipped: namespace shop is paused (annotation minrep.dev/paused)"
    );
    assert!(bed.exchange().is_empty());
}

/// One live read words the line.
#[tokio::test]
async fn a_key_that_left_the_cache_is_looked_up() {
    let bed = Bed::start(Settings::default()).await;
    assert_eq!(bed.settle_web().await, "no longer exists");
    assert_eq!(bed.exchange(), ["GET web 404"]);
    bed.server.seed(deployment("web", |object| {
        object["metadata"]["labels"] = json!({});
    }));
    assert_eq!(bed.settle_web().await, "no longer opted in");
    assert_eq!(bed.replicas("web"), Some(1));
}

#[tokio::test]
async fn a_deployment_that_left_the_selection_is_no_longer_looked_after() {
    let selected = |settings: &mut Settings| {
        settings.selector = Some("tier=front".parse().unwrap());
    };
    let mut bed = Bed::start(settings(selected)).await;
    bed.seed("web", |object| {
        object["metadata"]["labels"]["tier"] = json!("front");
    });
    bed.meanwhile(|object| object["metadata"]["labels"]["tier"] = json!("back"));
    assert_eq!(bed.settle_web().await, "no longer opted in");
    assert_eq!(bed.replicas("web"), Some(1));
}

#[tokio::test]
async fn a_key_that_the_cache_has_not_heard_of_yet_is_served_all_the_same() {
    let bed = Bed::start(Settings::default()).await;
    bed.server.seed(deployment("web", |_| ()));
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
}

#[tokio::test]
async fn an_absent_key_that_cannot_be_looked_up_is_tried_again() {
    let bed = Bed::start(Settings::default()).await;
    bed.faults().add(
        Rule::new(Action::status(500).message("etcd is away"))
            .verb(Verb::Get)
            .attempts(1),
    );
    let error = bed.reconcile_web().await.unwrap_err();
    assert!(matches!(error, ReconcileError::Transient(_)));
    bed.reconcile_web().await.unwrap();
    assert_eq!(
        bed.reports.take(),
        ["could not be read: etcd is away", "no longer exists"]
    );
}

/// A gateway knows nothing of Deployments: its 404 ends no object.
#[tokio::test]
async fn a_404_that_is_not_the_api_servers_says_nothing() {
    let bed = Bed::start(Settings::default()).await;
    bed.faults().add(
        Rule::new(Action::status(404).body(http::HeaderValue::from_static("text/html"), "<html>"))
            .verb(Verb::Get),
    );
    let line = bed.settle_web().await;
    assert!(line.starts_with("could not be read: "), "{line}");
}

#[tokio::test]
async fn an_autoscaler_cache_without_its_index_is_refused() {
    let server = SimApiServer::builder().start().await.unwrap();
    let client = layered(server.service(), &ClientOptions::new("test"));
    let (_writer, deployments) = cache::<Deployment>(Vec::new());
    let (_writer, autoscalers) = cache::<HorizontalPodAutoscaler>(Vec::new());
    let caches = Caches {
        deployments,
        autoscalers: Some(autoscalers),
        scaled_objects: None,
        namespaces: None,
    };
    let writer = ScaleWriter::new(client.clone());
    let made = MinReplicas::new(
        caches,
        client,
        Settings::default(),
        writer,
        Arc::new(DecisionLog::default()),
    );
    let error = made.err().unwrap();
    assert_eq!(error.to_string(), "index with name target does not exist");
}
