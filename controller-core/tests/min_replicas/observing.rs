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
use tokio::time::Duration;

use crate::bed::{Bed, autoscaler, deployment};
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
    bed.pause_namespace();
    bed.observe_namespace();
    assert_eq!(
        bed.settle_web().await,
        "skipped: namespace shop is paused (annotation minrep.dev/paused)"
    );
    assert!(bed.exchange().is_empty());
}

/// Its Namespace was made a moment ago, and its event has not come yet.
#[tokio::test]
async fn a_namespace_that_the_cache_does_not_have_is_looked_up_before_a_raise() {
    let paused = "skipped: namespace shop is paused (annotation minrep.dev/paused)";
    for (pause, expected, exchange) in [
        (true, paused, vec!["GET shop 200"]),
        (
            false,
            "scaled from 1 to 2",
            vec!["GET shop 200", "PATCH web/scale 200"],
        ),
    ] {
        let mut bed = Bed::with_web().await;
        bed.unobserve_namespaces();
        if pause {
            bed.pause_namespace();
        }
        assert_eq!(bed.settle_web().await, expected);
        assert_eq!(bed.exchange(), exchange);
    }
}

/// Nobody is asked for nothing.
#[tokio::test]
async fn a_namespace_is_not_looked_up_where_nothing_is_to_be_raised() {
    let mut bed = Bed::start(Settings::default()).await;
    bed.unobserve_namespaces();
    bed.seed("web", |object| object["spec"]["replicas"] = json!(3));
    bed.settle_web().await;
    assert!(bed.exchange().is_empty());
}

/// It may be paused: nothing is raised as long as nobody knows.
#[tokio::test]
async fn a_namespace_that_cannot_be_looked_up_is_tried_again() {
    let mut bed = Bed::with_web().await;
    bed.unobserve_namespaces();
    let away = Action::status(500).message("etcd is away");
    let away = Rule::new(away).resource("namespaces").attempts(1);
    bed.faults().add(away);
    let error = bed.reconcile_web().await.unwrap_err();
    assert!(matches!(error, ReconcileError::Transient(_)));
    assert!(bed.patches().is_empty());
    assert_eq!(
        bed.reports.take(),
        ["could not be raised from 1 to 2: etcd is away"]
    );
}

/// After a 409 it is looked at once more: it can be paused by then.
#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_paused_during_a_raise_counts() {
    let mut bed = Bed::with_web().await;
    bed.unobserve_namespaces();
    bed.meanwhile(|object| object["status"]["observedGeneration"] = json!(7));
    bed.faults().add(
        Rule::new(Action::Delay(Duration::from_millis(50)))
            .verb(Verb::Get)
            .resource("deployments"),
    );
    let pausing = async {
        bed.server.wait_for_requests(|all| all.len() == 3).await;
        bed.pause_namespace();
    };
    let (said, ()) = futures::join!(bed.settle_web(), pausing);
    assert_eq!(
        said,
        "skipped: namespace shop is paused (annotation minrep.dev/paused)"
    );
    assert_eq!(bed.replicas("web"), Some(1));
}

/// What could not be read may target this very Deployment: the server is asked before a raise,
/// and only where the caches hide something of the namespace.
#[tokio::test]
async fn an_autoscaler_that_the_cache_could_not_read_is_looked_up_before_a_raise() {
    let mut bed = Bed::with_web().await;
    bed.server.seed(autoscaler("web-hpa", |_| ()));
    bed.hide_autoscaler("shop");
    assert_eq!(
        bed.settle_web().await,
        "skipped: autoscaled by HorizontalPodAutoscaler web-hpa"
    );
    assert_eq!(bed.replicas("web"), Some(1));

    let mut bed = Bed::with_web().await;
    bed.hide_autoscaler("elsewhere");
    bed.hide_scaled_object("elsewhere");
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
    assert_eq!(bed.exchange().len(), 1);
}

/// A cache that has synced and is empty, because nothing in its list told its name.
#[tokio::test]
async fn an_autoscaler_whose_name_the_cache_could_not_read_is_looked_up_too() {
    let mut bed = Bed::with_web().await;
    bed.server.seed(autoscaler("web-hpa", |_| ()));
    bed.list_nameless_autoscaler();
    assert_eq!(
        bed.settle_web().await,
        "skipped: autoscaled by HorizontalPodAutoscaler web-hpa"
    );
    assert_eq!(bed.replicas("web"), Some(1));
}

/// Nothing is raised as long as nobody can say whose it is.
#[tokio::test]
async fn an_autoscaler_that_nobody_can_read_holds_the_raise() {
    type Hide = fn(&mut Bed);
    let hidden: [(&str, Hide); 5] = [
        ("horizontalpodautoscalers", Bed::list_nameless_autoscaler),
        ("scaledobjects", Bed::list_nameless_scaled_object),
        ("horizontalpodautoscalers", |bed| {
            bed.hide_autoscaler("shop");
        }),
        ("scaledobjects", |bed| {
            bed.hide_scaled_object("shop");
        }),
        ("namespaces", Bed::outdate_namespace),
    ];
    for (resource, hide) in hidden {
        let mut bed = Bed::with_web().await;
        hide(&mut bed);
        let away = Action::status(500).message("etcd is away");
        bed.faults().add(Rule::new(away).resource(resource));
        let error = bed.reconcile_web().await.unwrap_err();
        assert!(matches!(error, ReconcileError::Transient(_)), "{resource}");
        assert!(bed.patches().is_empty(), "{resource}");
    }
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
