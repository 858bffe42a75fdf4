//! `max_changes`: a pass plans everything before it writes anything.

use controller_core::controllers::min_replicas::{DryRun, HpaPolicy, Settings};
use controller_core::runtime::{OnceOptions, OnceReport, TooManyChanges};
use serde_json::json;
use sim_apiserver::faults::Verb;

use crate::harness::{Scene, autoscaler, deployment, once_options};

/// Three that are to be raised, and one that is not.
async fn pass_over_three(max_changes: usize, dry_run: DryRun) -> (Scene, OnceReport) {
    let scene = Scene::new([
        deployment("a", 1),
        deployment("b", 0),
        deployment("c", 1),
        deployment("d", 5),
    ])
    .await;
    let settings = Settings {
        dry_run,
        ..Settings::default()
    };
    let options = OnceOptions {
        settings,
        max_changes: Some(max_changes),
        ..once_options()
    };
    let report = scene.once(options).await.unwrap();
    (scene, report)
}

fn words(report: &OnceReport) -> Vec<String> {
    let verdicts = report.verdicts.iter();
    verdicts.map(|it| format!("{} {it}", it.key)).collect()
}

#[tokio::test(start_paused = true)]
async fn more_changes_than_are_allowed_are_none() {
    let (scene, report) = pass_over_three(2, DryRun::None).await;
    assert_eq!(
        report.too_many,
        Some(TooManyChanges {
            planned: 3,
            allowed: 2
        })
    );
    assert_eq!(
        report.too_many.unwrap().to_string(),
        "3 Deployments would be changed, and at most 2 may be"
    );
    assert_eq!(
        words(&report),
        [
            "shop/a not raised from 1 to 2: more changes than are allowed",
            "shop/b not raised from 0 to 2: more changes than are allowed",
            "shop/c not raised from 1 to 2: more changes than are allowed",
            "shop/d already satisfies the minimum of 2 (5 replicas)",
        ]
    );
    assert!(scene.patches().is_empty());
    assert_eq!(scene.verdicts.all().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn as_many_as_are_allowed_are_made() {
    let (scene, report) = pass_over_three(3, DryRun::None).await;
    assert_eq!((report.planned, report.too_many), (3, None));
    assert_eq!(scene.patches().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_is_judged_alike_and_a_server_is_not_asked() {
    let (scene, report) = pass_over_three(2, DryRun::Server).await;
    assert!(report.too_many.is_some());
    assert!(scene.patches().is_empty());
    let (_, report) = pass_over_three(2, DryRun::Client).await;
    assert!(report.too_many.is_some());
    // Nothing would be sent anyway: so it says what would be changed.
    assert_eq!(
        words(&report)[0],
        "shop/a would be scaled from 1 to 2 (dry run)"
    );
}

/// The first write comes after the last look.
#[tokio::test(start_paused = true)]
async fn everything_is_planned_before_anything_is_written() {
    let (scene, _) = pass_over_three(3, DryRun::None).await;
    let settled = scene.verdicts.all();
    assert_eq!(
        settled[0],
        "shop/d already satisfies the minimum of 2 (5 replicas)"
    );
    let requests = scene.server.requests();
    let first_write = requests.iter().position(|it| it.verb() == Verb::Patch);
    let last_read = requests.iter().rposition(|it| it.verb() != Verb::Patch);
    assert!(last_read < first_write);
}

/// C-31.
#[tokio::test(start_paused = true)]
async fn minimums_of_autoscalers_are_raised_where_they_can_be() {
    let capped = {
        let mut web = autoscaler("web-hpa", "web");
        web["spec"]["maxReplicas"] = json!(1);
        web
    };
    let without_minimum = {
        let mut api = autoscaler("api-hpa", "api");
        api["spec"].as_object_mut().unwrap().remove("minReplicas");
        api
    };
    let high_enough = {
        let mut cart = autoscaler("cart-hpa", "cart");
        cart["spec"]["minReplicas"] = json!(3);
        cart
    };
    let scene = Scene::new([
        deployment("web", 1),
        deployment("api", 1),
        deployment("cart", 3),
        capped,
        without_minimum,
        high_enough,
    ])
    .await;
    let settings = Settings {
        hpa: HpaPolicy::RaiseMin,
        ..Settings::default()
    };
    let report = scene
        .once(OnceOptions {
            settings,
            ..once_options()
        })
        .await
        .unwrap();
    assert_eq!(
        words(&report),
        [
            "shop/api minReplicas of HorizontalPodAutoscaler api-hpa raised from 1 to 2",
            "shop/cart already satisfies the minimum of 2 (3 replicas)",
            "shop/web minReplicas of HorizontalPodAutoscaler web-hpa cannot be raised from 1 to \
             2: HPA allows at most 1, minimum is 2",
        ]
    );
    let [patch] = &scene.patches()[..] else {
        panic!("one write: {:#?}", scene.patches())
    };
    assert!(patch.is_about("horizontalpodautoscalers"));
    assert!(patch.json()["metadata"]["resourceVersion"].is_string());
    assert_eq!((scene.replicas("web"), scene.replicas("api")), (1, 1));
}
