//! What is told of a run in the cluster.

use controller_core::controllers::min_replicas::{DryRun, Settings};
use controller_core::runtime::RunOptions;
use controller_core::write::events::{DropReason, EventMetrics, EventSource};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::harness::{Scene, deployment, options};

fn telling() -> RunOptions {
    RunOptions {
        events: Some(EventSource::new("minrep.dev/min-replicas", "pod-1").unwrap()),
        ..options()
    }
}

fn owned(name: &str) -> Value {
    let mut object = deployment(name, 1);
    object["metadata"]["ownerReferences"] = json!([owner()]);
    object
}

fn owner() -> Value {
    json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "web", "uid": "u-1",
           "controller": true})
}

/// `TYPE REASON OBJECT: MESSAGE` of every Event, in the order of their names.
fn told(server: &SimApiServer) -> Vec<String> {
    let events = server.objects("events");
    let line = |event: &Value| {
        let text = |path: &str| {
            event
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or("-")
                .to_owned()
        };
        format!(
            "{} {} {}: {}",
            text("/type"),
            text("/reason"),
            text("/involvedObject/name"),
            text("/message")
        )
    };
    events.iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn a_raise_is_told_of_on_the_deployment() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    scene.run(telling());
    scene
        .server
        .wait_for(|server| !told(server).is_empty())
        .await;
    assert_eq!(
        told(&scene.server),
        ["Normal Raised web: scaled from 1 to 2"]
    );
    let event = scene.server.objects("events").remove(0);
    let uid = scene.server.object("deployments", "shop", "web").unwrap()["metadata"]["uid"].clone();
    assert_eq!(event["involvedObject"]["uid"], uid);
    assert_eq!(event["involvedObject"]["apiVersion"], "apps/v1");
    assert_eq!(event["reportingComponent"], "minrep.dev/min-replicas");
    assert_eq!(event["action"], "Scale");
    let summary = scene.stop().await;
    assert_eq!((summary.events.written, summary.events.unwritten()), (1, 0));
}

/// Thousands that were skipped before the program started are no news.
#[tokio::test(start_paused = true)]
async fn what_is_skipped_from_the_start_has_no_event_and_what_comes_later_has_one() {
    let mut scene = Scene::new([owned("api"), deployment("web", 3)]).await;
    scene.run(telling());
    scene
        .until_said("shop/api skipped: owned by Rollout/web, which decides its replicas")
        .await;
    scene.server.mutate("deployments", "shop", "web", |object| {
        object["metadata"]["ownerReferences"] = json!([owner()]);
    });
    scene
        .server
        .wait_for(|server| !told(server).is_empty())
        .await;
    assert_eq!(
        told(&scene.server),
        ["Normal Skipped web: owned by Rollout/web, which decides its replicas"]
    );
    scene.stop().await;
}

/// Two reasons are two Events: of a series only the first note is kept.
#[tokio::test(start_paused = true)]
async fn another_reason_to_skip_is_another_event() {
    let mut scene = Scene::new([deployment("web", 3)]).await;
    scene.run(telling());
    scene
        .until_said("shop/web already satisfies the minimum of 2 (3 replicas)")
        .await;
    scene.server.mutate("deployments", "shop", "web", |object| {
        object["metadata"]["ownerReferences"] = json!([owner()]);
    });
    scene
        .server
        .wait_for(|server| told(server).len() == 1)
        .await;
    scene.server.mutate("namespaces", "", "shop", |object| {
        object["metadata"]["annotations"] = json!({"minrep.dev/paused": "true"});
    });
    scene
        .server
        .wait_for(|server| told(server).len() == 2)
        .await;
    let actions: Vec<Value> = scene
        .server
        .objects("events")
        .iter()
        .map(|event| event["action"].clone())
        .collect();
    assert!(actions.contains(&json!("Owned")) && actions.contains(&json!("NamespacePaused")));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_is_a_warning_once_for_each_message() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let refusal = Action::status(403).message("the webhook said no");
    scene.server.faults().add(
        Rule::new(refusal)
            .verb(Verb::Patch)
            .resource("deployments/scale"),
    );
    scene.run(telling());
    let patched = |requests: &[sim_apiserver::Recorded]| {
        let scales = requests
            .iter()
            .filter(|it| it.is_about("deployments/scale"));
        scales.count() >= 3
    };
    scene.server.wait_for_requests(patched).await;
    let events = told(&scene.server);
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].starts_with("Warning FailedUpdate web: could not be raised from 1 to 2: "));
    // What tells it from the next failure, which is then not its repeat.
    assert_eq!(scene.server.objects("events")[0]["action"], "Forbidden");
    scene.stop().await;
}

/// Events must never be in the way.
#[tokio::test(start_paused = true)]
async fn without_permission_for_events_the_work_goes_on() {
    let names = ["a", "b", "c"];
    let mut scene = Scene::new(names.map(|name| deployment(name, 1))).await;
    scene
        .server
        .faults()
        .add(Rule::new(Action::status(403)).resource("events"));
    scene.run(telling());
    for name in names {
        scene.until_replicas(name, 2).await;
    }
    let summary = scene.stop().await;
    assert_eq!(summary.events.dropped(DropReason::Refused), 3);
    assert!(summary.completed);
}

/// BX-25: what was done in the last moment is told of, too.
#[tokio::test(start_paused = true)]
async fn the_last_events_are_flushed_at_the_end() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    scene.run(telling());
    scene.until_replicas("web", 2).await;
    // Asked to end before anything was sent.
    scene.shutdown.cancel();
    let summary = scene.ended().await.unwrap();
    assert_eq!((summary.events.recorded, summary.events.written), (1, 1));
    assert_eq!(told(&scene.server).len(), 1);
    scene.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_tells_nobody() {
    for (dry_run, suffix) in [
        (DryRun::Client, "(dry run)"),
        (DryRun::Server, "(server dry run)"),
    ] {
        let mut scene = Scene::new([deployment("web", 1)]).await;
        scene.run(RunOptions {
            settings: Settings {
                dry_run,
                ..Settings::default()
            },
            ..telling()
        });
        let would = format!("shop/web would be scaled from 1 to 2 {suffix}");
        scene.until_said(&would).await;
        scene.server.mutate("deployments", "shop", "web", |object| {
            object["metadata"]["ownerReferences"] = json!([owner()]);
        });
        scene
            .until_said("shop/web skipped: owned by Rollout/web, which decides its replicas")
            .await;
        let summary = scene.stop().await;
        assert_eq!(summary.events.recorded, 0, "{dry_run:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_registry_has_the_numbers_for_as_long_as_the_run_and_after_it() {
    let mut scene = Scene::new([deployment("api", 1), deployment("web", 1)]).await;
    let refused = Rule::new(Action::status(403).reason("Forbidden").message("no"));
    let refused = refused.verb(Verb::Create).resource("events").attempts(1);
    scene.server.faults().add(refused);
    let metrics = EventMetrics::default();
    let mut registry = Registry::default();
    metrics.register(registry.sub_registry_with_prefix("minrep"));
    let text = || {
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let numbers = text.lines().filter(|line| !line.starts_with('#'));
        numbers.collect::<Vec<_>>().join("\n")
    };
    assert!(text().contains("minrep_events_recorded_total 0"));
    scene.run(RunOptions {
        event_metrics: metrics.clone(),
        ..telling()
    });
    scene
        .server
        .wait_for(|server| !told(server).is_empty())
        .await;
    let summary = scene.stop().await;
    insta::assert_snapshot!(text(), @r#"
    minrep_events_recorded_total 2
    minrep_events_written_total 1
    minrep_event_requests_total 2
    minrep_events_unwritten 0
    minrep_events_dropped_total{reason="buffer_full"} 0
    minrep_events_dropped_total{reason="filtered"} 0
    minrep_events_dropped_total{reason="refused"} 1
    minrep_events_dropped_total{reason="given_up"} 0
    minrep_events_dropped_total{reason="shutting_down"} 0
    "#);
    assert_eq!(summary.events.dropped(DropReason::Refused), 1);
}
