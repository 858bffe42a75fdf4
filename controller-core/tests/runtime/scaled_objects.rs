//! KEDA's ScaledObjects: on servers that have them, and on those that do not.

use std::time::Duration;

use controller_core::controllers::min_replicas::{HpaPolicy, Settings};
use controller_core::runtime::{OnceOptions, RunOptions};
use http::HeaderValue;
use serde_json::{Value, json};
use sim_apiserver::faults::{Action, Rule, Verb};
use sim_apiserver::{Kind, SimApiServer};

use crate::harness::{Scene, deployment, once_options, options};

pub(crate) const SCALED_OBJECT: Kind =
    Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects").with_status();

const SKIPPED: &str = "shop/web skipped: autoscaled by ScaledObject scaler";

pub(crate) async fn with_keda(objects: impl IntoIterator<Item = Value>) -> Scene {
    Scene::with_server(SimApiServer::builder().kind(SCALED_OBJECT), objects).await
}

pub(crate) fn scaler(target: &Value) -> Value {
    json!({
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
        "metadata": {"name": "scaler", "namespace": "shop"},
        "spec": {"scaleTargetRef": target, "triggers": []},
    })
}

pub(crate) fn forbid(verb: Verb) -> Rule {
    let message = "scaledobjects.keda.sh is forbidden: User \"ana\" cannot list it";
    let refusal = Action::status(403).reason("Forbidden").message(message);
    Rule::new(refusal).verb(verb).resource("scaledobjects")
}

fn ignoring() -> RunOptions {
    let settings = Settings {
        hpa: HpaPolicy::Ignore,
        ..Settings::default()
    };
    RunOptions {
        settings,
        ..options()
    }
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_one_targets_is_left_alone() {
    for target in [
        json!({"name": "web"}),
        json!({"kind": "Deployment", "name": "web"}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}),
    ] {
        let mut scene = with_keda([deployment("web", 1), scaler(&target)]).await;
        scene.run(options());
        scene.until_said(SKIPPED).await;
        assert!(scene.patches().is_empty());
        scene.stop().await;
    }
}

/// A paused one has no HorizontalPodAutoscaler, and holds its target all the same.
#[tokio::test(start_paused = true)]
async fn a_paused_one_counts() {
    let mut paused = scaler(&json!({"name": "web"}));
    paused["metadata"]["annotations"] = json!({"autoscaling.keda.sh/paused": "true"});
    let scene = with_keda([deployment("web", 1), paused]).await;
    let report = scene.once(once_options()).await.unwrap();
    assert_eq!(
        report.verdicts[0].to_string(),
        "skipped: autoscaled by ScaledObject scaler"
    );
    assert!(scene.patches().is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_that_goes_or_is_pointed_elsewhere_frees_its_deployment_at_once() {
    let target = json!({"name": "web"});
    for goes in [true, false] {
        let mut scene = with_keda([deployment("web", 1), scaler(&target)]).await;
        scene.run(RunOptions {
            resync: None,
            ..options()
        });
        scene.until_said(SKIPPED).await;
        if goes {
            scene.server.remove("scaledobjects", "shop", "scaler");
        } else {
            let elsewhere =
                |object: &mut Value| object["spec"]["scaleTargetRef"]["name"] = json!("api");
            let scaled_objects = ("scaledobjects", "shop", "scaler");
            let (resource, namespace, name) = scaled_objects;
            scene.server.mutate(resource, namespace, name, elsewhere);
        }
        scene.until_replicas("web", 2).await;
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn where_they_are_to_be_ignored_nobody_asks_for_them() {
    let target = json!({"name": "web"});
    let mut scene = with_keda([deployment("web", 1), scaler(&target)]).await;
    scene.run(ignoring());
    scene.until_replicas("web", 2).await;
    let asked = scene
        .server
        .requests_where(|it| it.info.path.contains("keda.sh"));
    assert!(asked.is_empty());
    scene.stop().await;
}

/// A server refuses to list what it does not have as well: the discovery document tells.
#[tokio::test(start_paused = true)]
async fn a_refusal_where_the_kind_is_absent_stops_nothing() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    scene.server.faults().add(forbid(Verb::List));
    scene.run(options());
    scene.until_replicas("web", 2).await;
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_may_not_be_listed_or_watched_ends_the_run_and_the_pass() {
    for verb in [Verb::List, Verb::Watch] {
        let mut scene = with_keda([deployment("web", 1)]).await;
        scene.server.faults().add(forbid(verb));
        scene.run(options());
        let error = scene.ended().await.unwrap_err();
        assert_eq!(error.to_string(), "cannot read scaledobjects.keda.sh");
        assert!(error.api_error().unwrap().is_forbidden());
        if verb == Verb::List {
            let error = scene.once(once_options()).await.unwrap_err();
            assert!(error.api_error().unwrap().is_forbidden());
        }
        assert!(scene.patches().is_empty());
    }
}

/// Not to know is not that there is none: only a list of groups that can be read, and does
/// not name this one, says so.
#[tokio::test(start_paused = true)]
async fn a_discovery_that_fails_is_no_absence() {
    let html = HeaderValue::from_static("text/html");
    for answer in [
        Action::status(403).message("no discovery for you"),
        Action::status(404).message("a Status this time"),
        Action::status(404).body(html.clone(), "<html>gateway</html>"),
        Action::status(200).body(html.clone(), "<html>log in</html>"),
        Action::status(200).body(html, "{}"),
    ] {
        let mut scene = Scene::new([deployment("web", 1)]).await;
        scene
            .server
            .faults()
            .add(Rule::new(answer.clone()).path("/apis"));
        let error = scene.once(once_options()).await.unwrap_err();
        assert_eq!(error.to_string(), "cannot read scaledobjects.keda.sh");
        scene.run(options());
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert!(scene.patches().is_empty(), "{answer:?}");
    }
}

/// A 404 may be a gateway's, while the server behind it restarts. The server's own is as
/// plain where it does not know the group.
#[tokio::test(start_paused = true)]
async fn a_404_is_no_absence_by_itself() {
    let plain = HeaderValue::from_static("text/plain");
    for not_found in [
        Action::status(404),
        Action::status(404).body(plain.clone(), "404 page not found\n"),
        Action::status(404).body(plain, "<html>gateway</html>"),
    ] {
        let first = Rule::new(not_found).group("keda.sh").attempts(1);
        let target = json!({"name": "web"});
        let mut scene = with_keda([deployment("web", 1), scaler(&target)]).await;
        scene.server.faults().add(first.clone());
        let report = scene.once(once_options()).await.unwrap();
        assert_eq!(
            report.verdicts[0].to_string(),
            "skipped: autoscaled by ScaledObject scaler"
        );
        scene.server.faults().clear();
        scene.server.faults().add(first);
        scene.run(options());
        scene.until_said(SKIPPED).await;
        assert!(scene.patches().is_empty());
        scene.stop().await;
    }
}

/// A loop waits for a server that cannot tell just now; a pass says so and ends.
#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_tell_is_waited_for_by_a_loop() {
    let target = json!({"name": "web"});
    let mut scene = with_keda([deployment("web", 1), scaler(&target)]).await;
    let busy = Rule::new(Action::status(503))
        .verb(Verb::List)
        .resource("scaledobjects");
    let busy = scene.server.faults().add(busy);
    let error = scene.once(once_options()).await.unwrap_err();
    assert_eq!(error.api_error().unwrap().code(), Some(503));
    scene.run(options());
    tokio::time::sleep(std::time::Duration::from_secs(300)).await;
    assert!(scene.patches().is_empty());
    scene.server.faults().remove(busy);
    scene.until_said(SKIPPED).await;
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pass_without_any_deployment_needs_to_know_nothing() {
    let scene = with_keda([]).await;
    scene.server.faults().add(forbid(Verb::List));
    let report = scene.once(OnceOptions { ..once_options() }).await.unwrap();
    assert!(report.verdicts.is_empty());
}
