//! What people who run clusters reported, on a whole run and on a whole pass.

use std::time::Duration;

use controller_core::controllers::min_replicas::HorizontalPodAutoscaler;
use controller_core::runtime::OnceReport;
use http::HeaderValue;
use serde_json::{Value, json};
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::harness::{Scene, autoscaler, deployment, once_options, options, writes_of};

fn changed(scene: &Scene, change: impl FnOnce(&mut Value)) {
    assert!(scene.server.mutate("deployments", "shop", "web", change));
}

fn words(report: &OnceReport) -> Vec<String> {
    let verdicts = report.verdicts.iter();
    verdicts.map(|it| format!("{} {it}", it.key)).collect()
}

fn being_deleted(object: &mut Value) {
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    object["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
}

/// C-11: Argo CD prunes in the foreground; the garbage collector is left in peace.
#[tokio::test(start_paused = true)]
async fn a_foreground_deletion_is_watched_and_not_disturbed() {
    let mut scene = Scene::new([deployment("web", 2)]).await;
    scene.run(options());
    let satisfied = "shop/web already satisfies the minimum of 2 (2 replicas)";
    scene.until_said(satisfied).await;
    changed(&scene, being_deleted);
    scene.until_said("shop/web skipped: being deleted").await;
    changed(&scene, |object| object["spec"]["replicas"] = json!(0));
    changed(&scene, |object| object["status"] = json!({"replicas": 0}));
    tokio::time::sleep(Duration::from_secs(90)).await;
    scene.server.remove("deployments", "shop", "web");
    scene.until_said("shop/web no longer exists").await;
    let mut said = scene.verdicts.all();
    said.dedup();
    assert_eq!(
        said,
        [
            satisfied,
            "shop/web skipped: being deleted",
            "shop/web no longer exists"
        ]
    );
    assert!(scene.patches().is_empty());
    scene.stop().await;
}

/// C-11, second run: it is on its way out when the first list is read.
#[tokio::test(start_paused = true)]
async fn what_is_being_deleted_at_the_start_is_not_raised_either() {
    let mut web = deployment("web", 1);
    being_deleted(&mut web);
    let mut scene = Scene::new([web]).await;
    let report = scene.once(once_options()).await.unwrap();
    assert_eq!(words(&report), ["shop/web skipped: being deleted"]);
    scene.run(options());
    scene.until_said("shop/web skipped: being deleted").await;
    assert!(scene.patches().is_empty());
    scene.stop().await;
}

/// C-12: an owner counts if it is the controller, and only then.
#[tokio::test(start_paused = true)]
async fn of_all_owners_only_a_controlling_one_keeps_us_away() {
    let csv = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
                     "name": "op.v1", "uid": "u1", "controller": false});
    let mut silent = csv.clone();
    silent.as_object_mut().unwrap().remove("controller");
    let foo = json!({"apiVersion": "v1", "kind": "Foo", "name": "f1", "uid": "u2",
                     "controller": true});
    let owned = |name: &str, owners: Value| {
        let mut object = deployment(name, 1);
        object["metadata"]["ownerReferences"] = owners;
        object
    };
    let scene = Scene::new([
        owned("a", json!([csv])),
        owned("b", json!([csv, foo])),
        owned("c", json!([silent])),
        owned("d", json!(null)),
        owned("e", json!([csv, csv])),
    ])
    .await;
    let report = scene.once(once_options()).await.unwrap();
    assert_eq!(
        words(&report),
        [
            "shop/a scaled from 1 to 2",
            "shop/b skipped: owned by Foo/f1, which decides its replicas",
            "shop/c scaled from 1 to 2",
            "shop/d scaled from 1 to 2",
            "shop/e scaled from 1 to 2",
        ]
    );
    assert_eq!(scene.patches().len(), 4);
}

/// C-29: a webhook puts the old number back and lets the request pass. Each answer brings an
/// event of the watch, as on a real server.
#[tokio::test(start_paused = true)]
async fn a_number_that_is_put_back_is_told_and_bounded() {
    let scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {"name": "web", "namespace": "shop", "resourceVersion": "111"},
        "spec": {"replicas": 1}, "status": {"replicas": 1},
    });
    let kept = Action::status(200).body(
        HeaderValue::from_static("application/json"),
        scale.to_string(),
    );
    let mut scene = Scene::new([deployment("web", 1)]).await;
    scene.server.faults().add(writes_of(Rule::new(kept), "web"));
    scene.run(options());
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        changed(&scene, |object| {
            object["status"]["observedGeneration"] = json!(1);
        });
    }
    let patches = scene.patches().len();
    assert!((2..=8).contains(&patches), "{patches} writes in 10 s");
    let said = scene.verdicts.all();
    assert!(
        said.iter().all(|it| !it.contains("scaled from")),
        "{said:#?}"
    );
    assert!(said[0].ends_with("the server kept 1 although 2 was asked"));
    assert!(said.last().unwrap().contains("in a fight"), "{said:#?}");
    scene.stop().await;
}

/// C-32: Terraform's autoscalers. They are skipped, with a warning that names them: the day on
/// which somebody mends one must not begin a fight.
#[tokio::test(start_paused = true)]
async fn autoscalers_that_name_no_group_are_targets_all_the_same() {
    let odd = |name: &str, target: &str, api_version: Option<&str>| {
        let mut object = autoscaler(name, target);
        let reference = object["spec"]["scaleTargetRef"].as_object_mut().unwrap();
        match api_version {
            Some(version) => _ = reference.insert("apiVersion".into(), json!(version)),
            None => _ = reference.remove("apiVersion"),
        }
        object
    };
    let scene = Scene::new([
        deployment("api", 1),
        deployment("web", 1),
        odd("web-hpa", "web", None),
        odd("api-hpa", "api", Some("extensions/v1beta1")),
    ])
    .await;
    let report = scene.once(once_options()).await.unwrap();
    let words = words(&report);
    assert!(
        words[0].contains("api-hpa") && words[0].contains("\"extensions/v1beta1\""),
        "{words:?}"
    );
    assert!(
        words[1].contains("web-hpa") && words[1].contains("no apiVersion"),
        "{words:?}"
    );
    assert!(report.verdicts.iter().all(|it| it.reason.is_warning()));
    assert!(scene.patches().is_empty());
    let read = |it: &sim_apiserver::Recorded| {
        it.verb() == Verb::List && it.is_about(&HorizontalPodAutoscaler::RESOURCE.plural)
    };
    assert_eq!(scene.server.requests_where(read).len(), 1);
}
