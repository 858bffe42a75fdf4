use std::time::Duration;

use controller_core::client::Scope;
use controller_core::controllers::min_replicas::{HpaPolicy, Settings};
use controller_core::runtime::RunOptions;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::harness::{Scene, deployment, options};

/// Neither to list nor to watch: who may watch may have the list streamed.
fn forbid(scene: &Scene, resource: &str) {
    for verb in [Verb::List, Verb::Watch] {
        scene.server.faults().add(forbid_to(verb, resource));
    }
}

fn forbid_to(verb: Verb, resource: &str) -> Rule {
    let refused = Action::status(403).reason("Forbidden").message(format!(
        "{resource} is forbidden: User \"ana\" cannot {verb:?} it"
    ));
    Rule::new(refused).verb(verb).resource(resource.to_owned())
}

/// C-10 (3), BX-12: it ends, says what is missing, and has written nothing.
#[tokio::test(start_paused = true)]
async fn deployments_that_may_not_be_listed_end_the_run() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    forbid(&scene, "deployments");
    scene.run(RunOptions {
        scope: Scope::All,
        ..options()
    });
    let error = scene.ended().await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read deployments.apps");
    assert!(error.api_error().unwrap().is_forbidden());
    assert!(scene.patches().is_empty());
}

/// DESIGN 1.1: going on without knowing the autoscalers is how fights begin.
#[tokio::test(start_paused = true)]
async fn autoscalers_that_may_not_be_listed_end_the_run_unless_they_are_ignored() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    forbid(&scene, "horizontalpodautoscalers");
    scene.run(options());
    let error = scene.ended().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read horizontalpodautoscalers.autoscaling"
    );
    assert!(scene.patches().is_empty());

    let settings = Settings {
        hpa: HpaPolicy::Ignore,
        ..Settings::default()
    };
    scene.run(RunOptions {
        settings,
        ..options()
    });
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

/// DESIGN 1.1: permission to list is not enough. Without the watch an autoscaler that
/// comes later is not seen, and a Deployment that changes is not either.
#[tokio::test(start_paused = true)]
async fn what_may_be_listed_but_not_watched_ends_the_run() {
    for resource in ["deployments", "horizontalpodautoscalers"] {
        let mut scene = Scene::new([deployment("web", 1)]).await;
        let forbidden = forbid_to(Verb::Watch, resource);
        scene.server.faults().add(forbidden);
        scene.run(options());
        let error = scene.ended().await.unwrap_err();
        let answer = error.api_error().unwrap().answer().unwrap();
        assert_eq!(answer.verb, controller_core::client::Verb::Watch);
        assert!(answer.target.resource.starts_with(resource));
        assert!(scene.patches().is_empty());
    }
}

/// What is known of namespaces would be old for ever: better to know nothing and say so.
#[tokio::test(start_paused = true)]
async fn namespaces_that_may_be_listed_but_not_watched_pause_nothing() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    scene.server.mutate("namespaces", "", "shop", |object| {
        object["metadata"]["annotations"] = serde_json::json!({"minrep.dev/paused": "true"});
    });
    scene
        .server
        .faults()
        .add(forbid_to(Verb::Watch, "namespaces"));
    scene.run(options());
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

/// A watch that cannot be opened just now is no reason to end, nor to wait with the work.
#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_at_first_stops_nothing() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let busy = Rule::new(Action::status(503)).verb(Verb::Watch);
    scene.server.faults().add(busy);
    scene.run(options());
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn namespaces_that_may_not_be_listed_pause_nothing_and_stop_nothing() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    forbid(&scene, "namespaces");
    scene.run(options());
    scene.until_replicas("web", 2).await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    let asked = scene.server.requests_where(|it| it.is_about("namespaces"));
    // For a streamed list and for a list.
    assert_eq!(asked.len(), 2, "asked again although it is of no use");
    scene.stop().await;
}

/// C-07: a server whose cache is not ready is waited for.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_ready_is_waited_for() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let busy = Action::status(429)
        .reason("TooManyRequests")
        .message("storage is (re)initializing")
        .retry_after(1);
    let busy = Rule::new(busy).verb(Verb::List).attempts(1..=8);
    scene.server.faults().add(busy);
    scene.run(options());
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

/// After the first lists nothing but a signal ends the run.
#[tokio::test(start_paused = true)]
async fn a_refusal_after_the_first_lists_is_outlived() {
    let mut scene = Scene::new([deployment("web", 3)]).await;
    scene.run(options());
    scene
        .until_said("shop/web already satisfies the minimum of 2 (3 replicas)")
        .await;
    let list = forbid_to(Verb::List, "deployments");
    scene.server.faults().add(list);
    scene.server.expire_history();
    let unauthorized = Rule::new(Action::status(401)).verb(Verb::Watch);
    let unauthorized = scene.server.faults().add(unauthorized);
    tokio::time::sleep(Duration::from_secs(900)).await;
    scene.server.faults().remove(unauthorized);
    scene.server.faults().clear();
    scene.scale_behind_our_back("web", 1);
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}
