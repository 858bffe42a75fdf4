use std::time::Duration;

use controller_core::client::Scope;
use serde_json::json;
use sim_apiserver::Recorded;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::harness::{Scene, autoscaler, deployment, options, writes_of};

#[tokio::test(start_paused = true)]
async fn what_is_there_at_the_start_is_raised() {
    let mut scene = Scene::new([deployment("a", 0), deployment("b", 1), deployment("c", 2)]).await;
    scene.run(options());
    scene.until_said("shop/a scaled from 0 to 2").await;
    scene.until_said("shop/b scaled from 1 to 2").await;
    scene
        .until_said("shop/c already satisfies the minimum of 2 (2 replicas)")
        .await;
    assert_eq!(scene.patches().len(), 2);
    scene.stop().await;
}

/// The plain confirmation by our own write's event and by a resync sends nothing.
#[tokio::test(start_paused = true)]
async fn a_raised_deployment_is_left_alone_from_then_on() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    scene.run(options());
    scene.until_said("shop/web scaled from 1 to 2").await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(scene.patches().len(), 1);
    let said = scene.verdicts.all();
    let confirmed = said.iter().filter(|it| it.contains("already satisfies"));
    assert!(confirmed.count() >= 9, "no resync every 30 s: {said:#?}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_that_goes_frees_its_deployment() {
    let mut scene = Scene::new([deployment("web", 1), autoscaler("web-hpa", "web")]).await;
    scene.run(options());
    scene.until(|said| said.len() == 1).await;
    assert_eq!(scene.replicas("web"), 1);
    scene
        .server
        .remove("horizontalpodautoscalers", "shop", "web-hpa");
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

/// DESIGN 1.1: an autoscaler that is not known yet is an autoscaler that is fought.
#[tokio::test(start_paused = true)]
async fn nothing_is_decided_before_the_autoscalers_are_known() {
    let mut scene = Scene::new([deployment("web", 1), autoscaler("web-hpa", "web")]).await;
    let slow = Rule::new(Action::Delay(Duration::from_secs(20)))
        .verb(Verb::List)
        .resource("horizontalpodautoscalers");
    scene.server.faults().add(slow);
    scene.run(options());
    scene.until(|said| !said.is_empty()).await;
    assert!(scene.verdicts.all()[0].contains("web-hpa"));
    assert!(scene.patches().is_empty());
    scene.stop().await;
}

/// An autoscaler may target what nobody opted in: that is nobody's business.
#[tokio::test(start_paused = true)]
async fn an_autoscaler_of_a_deployment_that_did_not_opt_in_is_not_followed_up() {
    let mut plain = deployment("plain", 1);
    plain["metadata"]["labels"] = json!({});
    let mut scene = Scene::new([plain, autoscaler("hpa", "plain"), deployment("web", 1)]).await;
    scene.run(options());
    scene.until_replicas("web", 2).await;
    scene
        .server
        .remove("horizontalpodautoscalers", "shop", "hpa");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let asked = scene
        .server
        .requests_where(|it| it.verb() == Verb::Get && it.is_about("deployments"));
    assert!(asked.is_empty(), "{asked:?}");
    assert!(scene.verdicts.all().iter().all(|it| !it.contains("plain")));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_that_is_pointed_elsewhere_frees_its_deployment() {
    let objects = [
        deployment("web", 1),
        deployment("api", 1),
        autoscaler("hpa", "web"),
    ];
    let mut scene = Scene::new(objects).await;
    scene.run(options());
    scene.until_replicas("api", 2).await;
    scene
        .server
        .mutate("horizontalpodautoscalers", "shop", "hpa", |object| {
            object["spec"]["scaleTargetRef"]["name"] = json!("api");
        });
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_no_longer_paused_is_looked_at_at_once() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let pause = |on: bool| {
        scene
            .server
            .mutate("namespaces", "", "shop", move |object| {
                object["metadata"]["annotations"] = json!({"minrep.dev/paused": on.to_string()});
            });
    };
    pause(true);
    scene.run(options());
    scene.until(|said| !said.is_empty()).await;
    assert_eq!(scene.replicas("web"), 1);
    let pause = |on: bool| {
        scene
            .server
            .mutate("namespaces", "", "shop", move |object| {
                object["metadata"]["annotations"] = json!({"minrep.dev/paused": on.to_string()});
            });
    };
    pause(false);
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

/// DESIGN 2.2: leaving the selector and being deleted arrive alike; one live read tells
/// them apart.
#[tokio::test(start_paused = true)]
async fn leaving_the_label_and_leaving_the_world_are_told_apart() {
    let mut scene = Scene::new([deployment("left", 3), deployment("gone", 3)]).await;
    scene.run(options());
    scene
        .until_said("shop/gone already satisfies the minimum of 2 (3 replicas)")
        .await;
    scene
        .server
        .mutate("deployments", "shop", "left", |object| {
            object["metadata"]["labels"] = json!({});
            object["spec"]["replicas"] = json!(1);
        });
    scene.server.remove("deployments", "shop", "gone");
    scene.until_said("shop/left no longer opted in").await;
    scene.until_said("shop/gone no longer exists").await;
    assert!(scene.patches().is_empty());
    scene.stop().await;
}

fn watches_of_deployments(all: &[Recorded]) -> usize {
    let watches = all
        .iter()
        .filter(|it| it.verb() == Verb::Watch && it.is_about("deployments"));
    watches.count()
}

/// The watch is cut, and while none is open a Deployment goes and another comes.
#[tokio::test(start_paused = true)]
async fn what_happens_between_two_watches_is_not_missed() {
    let mut scene = Scene::new([deployment("old", 3)]).await;
    let watch = |rule: Rule| rule.verb(Verb::Watch).resource("deployments");
    let cut = Rule::new(Action::cut_after(Duration::from_secs(5)));
    scene.server.faults().add(watch(cut).attempts(1));
    let away = Rule::new(Action::status(503));
    scene.server.faults().add(watch(away).attempts(2..=4));
    scene.run(options());
    scene
        .until_said("shop/old already satisfies the minimum of 2 (3 replicas)")
        .await;
    scene
        .server
        .wait_for_requests(|all| watches_of_deployments(all) == 2)
        .await;
    // The first watch has been cut, the second was refused: nobody is watching.
    scene.server.remove_silently("deployments", "shop", "old");
    scene.server.seed(deployment("new", 1));
    scene.server.expire_history();
    scene.until_replicas("new", 2).await;
    scene.until_said("shop/old no longer exists").await;
    scene.stop().await;
}

/// The unforgivable bug: the cache says 1, the server says 10, and somebody writes 2.
#[tokio::test(start_paused = true)]
async fn an_old_cache_never_scales_down() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let held = Rule::new(Action::Delay(Duration::from_secs(2)));
    scene
        .server
        .faults()
        .add(writes_of(held, "web").attempts(1));
    scene.run(options());
    scene
        .server
        .wait_for_requests(|all| all.iter().any(|it| it.verb() == Verb::Patch))
        .await;
    scene.scale_behind_our_back("web", 10);
    scene
        .until_said("shop/web already satisfies the minimum of 2 (10 replicas)")
        .await;
    assert_eq!(scene.replicas("web"), 10);
    scene.stop().await;
}

/// C-08, C-28: one object's refusal costs the others nothing.
#[tokio::test(start_paused = true)]
async fn a_refused_write_is_tried_ever_less_often_and_others_go_on() {
    let mut scene = Scene::new([deployment("web", 1), deployment("api", 1)]).await;
    let refused = Rule::new(Action::status(500).message("webhook says no"));
    scene.server.faults().add(writes_of(refused, "web"));
    scene.run(options());
    scene.until_replicas("api", 2).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let tries = scene
        .patches()
        .iter()
        .filter(|it| it.info.name.as_deref() == Some("web"))
        .count();
    assert!((5..=14).contains(&tries), "{tries} tries in 20 s");
    scene.server.faults().clear();
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_does_not_exist_yet_is_waited_for() {
    let mut scene = Scene::new([]).await;
    let mut later = deployment("web", 1);
    later["metadata"]["namespace"] = json!("later");
    scene.run(controller_core::runtime::RunOptions {
        scope: Scope::Namespace("later".into()),
        ..options()
    });
    scene
        .server
        .wait_for_requests(|all| all.iter().filter(|it| it.verb() == Verb::Watch).count() == 3)
        .await;
    scene
        .server
        .seed(json!({"apiVersion": "v1", "kind": "Namespace",
                             "metadata": {"name": "later"}}));
    scene.server.seed(later);
    scene.until_said("later/web scaled from 1 to 2").await;
    scene.stop().await;
}
