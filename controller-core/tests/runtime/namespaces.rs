//! A Namespace and what is in it come by two watches, in any order.

use std::time::Duration;

use controller_core::client::Scope;
use controller_core::runtime::RunOptions;
use serde_json::{Value, json};
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::sleep;

use crate::harness::{Scene, deployment, options};

fn namespace(paused: bool) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "late", "annotations": {"minrep.dev/paused": paused.to_string()}},
    })
}

fn deployment_in_it() -> Value {
    let mut object = deployment("web", 1);
    object["metadata"]["namespace"] = json!("late");
    object
}

/// A run that hears of no Namespace any more after its first lists.
async fn deaf_run(scope: Scope) -> Scene {
    let mut scene = Scene::new([]).await;
    let silent = Action::half_open_after_events(0);
    let silent = Rule::new(silent).verb(Verb::Watch).resource("namespaces");
    scene.server.faults().add(silent);
    scene.run(RunOptions {
        scope,
        resync: None,
        ..options()
    });
    for resource in ["namespaces", "deployments"] {
        scene
            .server
            .wait_for_requests(|all| {
                all.iter()
                    .any(|it| it.verb() == Verb::Watch && it.is_about(resource))
            })
            .await;
    }
    scene
}

/// A namespace that is made paused, with a Deployment in it at once.
#[tokio::test(start_paused = true)]
async fn a_deployment_that_comes_before_its_paused_namespace_is_not_raised() {
    for scope in [Scope::All, Scope::Namespace("late".into())] {
        let scene = deaf_run(scope).await;
        scene.server.seed_all([namespace(true), deployment_in_it()]);
        scene
            .until_said("late/web skipped: namespace late is paused (annotation minrep.dev/paused)")
            .await;
        sleep(Duration::from_secs(60)).await;
        assert!(scene.patches().is_empty());
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_comes_before_its_namespace_is_raised_all_the_same() {
    let scene = deaf_run(Scope::All).await;
    scene
        .server
        .seed_all([namespace(false), deployment_in_it()]);
    scene.until_said("late/web scaled from 1 to 2").await;
    assert_eq!(scene.patches().len(), 1);
    scene.stop().await;
}
