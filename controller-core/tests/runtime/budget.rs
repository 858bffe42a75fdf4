//! `max_raises_per_minute`: everything labelled by mistake is not raised at once.

use std::num::NonZeroU32;
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::controllers::min_replicas::Metrics;
use controller_core::runtime::RunOptions;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Instant, sleep, timeout};
use tracing::Level;

use crate::harness::{Scene, deployment, options};

const MINUTE: Duration = Duration::from_secs(60);

fn limited(limit: u32) -> RunOptions {
    RunOptions {
        max_raises_per_minute: NonZeroU32::new(limit),
        ..options()
    }
}

async fn scene_of(deployments: usize) -> Scene {
    Scene::new((0..deployments).map(|number| deployment(&format!("d{number:03}"), 1))).await
}

async fn until_all_are_raised(scene: &Scene) {
    let raised = scene.server.wait_for(|server| {
        let all = server.objects("deployments");
        all.iter().all(|it| it["spec"]["replicas"] == 2)
    });
    timeout(60 * MINUTE, raised).await.unwrap();
}

/// The most writes in any 60 s.
fn most_in_a_minute(scene: &Scene) -> usize {
    let at: Vec<Instant> = scene.patches().iter().map(|it| it.at).collect();
    let from = |start: &Instant| {
        let within = |it: &&Instant| **it >= *start && **it < *start + MINUTE;
        at.iter().filter(within).count()
    };
    at.iter().map(from).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn no_minute_has_more_raises_than_it_may_and_none_is_lost() {
    let (warnings, _guard) = CapturedLog::start(Level::WARN);
    let mut scene = scene_of(50).await;
    let start = Instant::now();
    scene.run(limited(20));
    until_all_are_raised(&scene).await;
    let took = start.elapsed();
    assert_eq!(most_in_a_minute(&scene), 20);
    assert_eq!(scene.patches().len(), 50);
    assert!(
        took >= 2 * MINUTE && took < 2 * MINUTE + Duration::from_secs(5),
        "{took:?}"
    );
    // Once, with how many, and once again a minute later.
    insta::assert_snapshot!(warnings.text(), @r"
    WARN 30 Deployments wait to be raised: at most 20 are raised in a minute waiting=30
    WARN 10 Deployments wait to be raised: at most 20 are raised in a minute waiting=10
    ");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn those_that_wait_keep_their_place_in_line() {
    let mut scene = scene_of(9).await;
    scene.run(limited(3));
    sleep(Duration::from_secs(5)).await;
    // Later than all of them, and woken by an event.
    scene.server.seed(deployment("late", 1));
    until_all_are_raised(&scene).await;
    let names: Vec<_> = scene
        .patches()
        .iter()
        .map(|it| it.info.name.clone().unwrap())
        .collect();
    assert_eq!(names.last().unwrap(), "late");
    assert_eq!(most_in_a_minute(&scene), 3);
    scene.stop().await;
}

/// It is delayed by a timer, and not tried over and over.
#[tokio::test(start_paused = true)]
async fn a_key_that_waits_is_not_looked_at_all_the_time() {
    let mut scene = scene_of(40).await;
    scene.run(RunOptions {
        resync: None,
        ..limited(1)
    });
    sleep(10 * MINUTE).await;
    let looks = scene.verdicts.all().len();
    // 40 first looks, and one of each that waits in every minute.
    assert!((200..=40 + 10 * 39).contains(&looks), "{looks}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_is_raised_by_hand_holds_nobody_up() {
    let mut scene = scene_of(3).await;
    scene.run(limited(1));
    scene
        .server
        .wait_for_requests(|all| all.iter().any(|it| it.verb() == Verb::Patch))
        .await;
    sleep(Duration::from_secs(1)).await;
    let waiting: Vec<_> = ["d000", "d001", "d002"]
        .into_iter()
        .filter(|name| scene.replicas(name) == 1)
        .collect();
    let [next, last] = waiting[..] else {
        panic!("{waiting:?}")
    };
    scene.scale_behind_our_back(next, 7);
    sleep(MINUTE).await;
    assert_eq!((scene.replicas(next), scene.replicas(last)), (7, 2));
    scene.stop().await;
}

/// Those ahead in line went away: nobody sleeps on while a slot is free.
#[tokio::test(start_paused = true)]
async fn the_last_in_line_comes_as_soon_as_all_others_are_raised_by_hand() {
    let mut scene = scene_of(20).await;
    scene.run(RunOptions {
        resync: None,
        ..limited(1)
    });
    sleep(Duration::from_secs(1)).await;
    let low = |name: &String| scene.replicas(name) == 1;
    let waiting: Vec<_> = (0..20).map(|it| format!("d{it:03}")).filter(low).collect();
    let (last, others) = waiting.split_last().unwrap();
    for name in others {
        scene.scale_behind_our_back(name, 7);
    }
    sleep(MINUTE).await;
    assert_eq!(scene.replicas(last), 2);
    scene.stop().await;
}

/// A write that hangs may be applied at any time: it counts until it has ended, and a
/// minute more.
#[tokio::test(start_paused = true)]
async fn a_write_that_hangs_for_minutes_keeps_its_slot() {
    let mut scene = scene_of(3).await;
    let hangs = Rule::new(Action::Delay(3 * MINUTE)).verb(Verb::Patch);
    scene.server.faults().add(hangs.attempts(1));
    let start = Instant::now();
    scene.run_patiently(RunOptions {
        reconcile_deadline: None,
        ..limited(1)
    });
    until_all_are_raised(&scene).await;
    let after: Vec<u64> = scene
        .patches()
        .iter()
        .map(|it| (it.at - start).as_secs() / 60)
        .collect();
    assert_eq!(after, [0, 4, 5]);
    scene.stop().await;
}

/// What the server refuses costs the cluster nothing.
#[tokio::test(start_paused = true)]
async fn a_refused_raise_leaves_its_slot_to_others() {
    let mut scene = scene_of(3).await;
    let refused = Rule::new(Action::status(403))
        .verb(Verb::Patch)
        .object("d000");
    scene.server.faults().add(refused);
    scene.run(limited(2));
    scene.until_replicas("d001", 2).await;
    scene.until_replicas("d002", 2).await;
    assert!(scene.patches().len() >= 3);
    scene.stop().await;
}

/// What it stores costs the cluster as much as any other raise, whatever it answers.
#[tokio::test(start_paused = true)]
async fn a_raise_that_was_stored_keeps_its_slot_whatever_the_server_says() {
    let mut scene = scene_of(4).await;
    let stored = Action::false_answer(Action::status(500));
    scene
        .server
        .faults()
        .add(Rule::new(stored).verb(Verb::Patch));
    scene.run(limited(1));
    until_all_are_raised(&scene).await;
    assert_eq!((most_in_a_minute(&scene), scene.patches().len()), (1, 4));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_nobody_waits() {
    let mut scene = scene_of(250).await;
    let start = Instant::now();
    scene.run(RunOptions {
        max_raises_per_minute: None,
        ..options()
    });
    until_all_are_raised(&scene).await;
    assert!(start.elapsed() < Duration::from_secs(5));
    scene.stop().await;
}

/// What a scrape sees in the middle of it.
#[tokio::test(start_paused = true)]
async fn the_metrics_of_a_run_are_in_the_registry_that_was_passed_in() {
    let mut scene = scene_of(5).await;
    scene.server.seed(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "odd", "namespace": "shop",
                     "labels": {"demo/min-replicas": "True"}},
        "spec": {"replicas": 1},
    }));
    let metrics = Metrics::default();
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    scene.run(RunOptions {
        metrics,
        ..limited(2)
    });
    sleep(Duration::from_secs(5)).await;
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let mut samples: Vec<&str> = text.lines().filter(|it| !it.starts_with('#')).collect();
    samples.sort_unstable();
    insta::assert_snapshot!(samples.join("\n"), @r#"
    minrep_budget_delayed_total 3
    minrep_fights_total 0
    minrep_raises_total{target="deployment"} 2
    minrep_skipped{reason="Budget"} 3
    minrep_skipped{reason="NotOptedIn"} 1
    minrep_would_raise 0
    minrep_write_attempts_total{target="deployment",code="200"} 2
    "#);
    scene.stop().await;
}
