use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::runtime::{RetryDelays, RunOptions};
use serde_json::json;
use sim_apiserver::faults::{Action, Rule};
use tokio::time::{Instant, sleep};
use tracing::Level;

use crate::harness::{Scene, deployment, options, writes_of};

const MINUTE: Duration = Duration::from_secs(60);

/// `shop/web`, of which every write is refused.
async fn refused() -> Scene {
    let scene = Scene::new([deployment("web", 1)]).await;
    let refusal = Action::status(500).message("webhook says no");
    scene
        .server
        .faults()
        .add(writes_of(Rule::new(refusal), "web"));
    scene
}

/// The times between one write and the next.
fn pauses(scene: &Scene) -> Vec<Duration> {
    let times: Vec<Instant> = scene.patches().iter().map(|it| it.at).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Whether each pause is as long as it should be, and at most a tenth longer; the longest at
/// most a tenth shorter.
fn assert_doubling(pauses: &[Duration], delays: RetryDelays) {
    let mut expected = delays.base();
    for pause in pauses {
        let least = expected.min(delays.max() - expected.mul_f64(0.1));
        let longest = expected.mul_f64(1.1).min(delays.max()) + Duration::from_millis(5);
        assert!(
            (least..=longest).contains(pause),
            "{pause:?} where {expected:?} is due: {pauses:?}"
        );
        expected = (expected * 2).min(delays.max());
    }
}

/// The resync comes every 30 s all the while, and a status changes now and then.
#[tokio::test(start_paused = true)]
async fn a_refused_raise_is_tried_after_500_ms_doubled_to_15_min() {
    let mut scene = refused().await;
    scene.run(options());
    let until = Instant::now() + 60 * MINUTE;
    let mut generation = 0;
    while Instant::now() < until {
        sleep(Duration::from_secs(19)).await;
        generation += 1;
        scene.server.mutate("deployments", "shop", "web", |object| {
            object["status"]["observedGeneration"] = json!(generation);
        });
    }
    let pauses = pauses(&scene);
    assert_doubling(&pauses, RetryDelays::default());
    assert!(pauses.len() >= 12, "{pauses:?}");
    scene.stop().await;
}

/// A look in the middle of a wait tries nothing, so it ends no series of failures either.
#[tokio::test(start_paused = true)]
async fn a_resync_does_not_begin_the_attempts_anew() {
    let (log, _guard) = CapturedLog::start(Level::DEBUG);
    let mut scene = refused().await;
    scene.run(options());
    sleep(10 * MINUTE).await;
    let writes = scene.patches().len();
    assert!(writes > 8, "{writes}");
    scene.stop().await;
    let log = log.text();
    let failed = log.lines().filter(|it| it.contains(" reconcile failed"));
    let attempt = |line: &str| {
        let (_, rest) = line.split_once("attempt=").unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let attempts: Vec<usize> = failed.map(attempt).collect();
    assert_eq!(attempts, (1..=writes).collect::<Vec<_>>());
    assert!(!log.contains("reconcile succeeded again"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn the_delays_that_were_asked_for_are_kept() {
    let (base, max) = (Duration::from_millis(20), Duration::from_secs(2));
    let retry = RetryDelays::new(base, max).unwrap();
    let mut scene = refused().await;
    scene.run(RunOptions { retry, ..options() });
    sleep(MINUTE).await;
    let pauses = pauses(&scene);
    assert_doubling(&pauses, retry);
    assert!(pauses.len() >= 30, "{pauses:?}");
    // Also of the longest no two are alike: all objects come to these in a long outage.
    let mut longest = pauses[pauses.len() - 20..].to_vec();
    longest.sort_unstable();
    longest.dedup_by(|a, b| a.abs_diff(*b) < Duration::from_millis(2));
    assert!(longest.len() >= 10, "{longest:?}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_object_of_the_same_kind_waits_for_nothing() {
    let mut scene = refused().await;
    scene.run(options());
    sleep(10 * MINUTE).await;
    scene.server.seed(deployment("api", 1));
    let start = Instant::now();
    scene.until_replicas("api", 2).await;
    assert!(start.elapsed() < Duration::from_millis(100));
    scene.stop().await;
}

/// What is to be raised changes: that is another decision, which has not failed.
#[tokio::test(start_paused = true)]
async fn a_change_of_the_object_is_tried_at_once() {
    let mut scene = refused().await;
    scene.run(options());
    sleep(10 * MINUTE).await;
    scene.server.faults().clear();
    scene.scale_behind_our_back("web", 0);
    let start = Instant::now();
    scene.until_replicas("web", 2).await;
    assert!(start.elapsed() < Duration::from_millis(100));
    scene.stop().await;
}
