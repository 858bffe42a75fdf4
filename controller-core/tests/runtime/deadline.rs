use std::num::NonZeroU32;
use std::time::Duration;

use controller_core::runtime::{RetryDelays, RunOptions};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Instant, sleep};

use crate::harness::{Scene, deployment, options, writes_of};

const SECOND: Duration = Duration::from_secs(1);

/// A server that never answers one request must not keep a worker for ever.
#[tokio::test(start_paused = true)]
async fn a_look_that_hangs_gives_its_worker_back() {
    let mut scene = Scene::new([deployment("api", 1), deployment("web", 1)]).await;
    let silent = Rule::new(Action::Hang).verb(Verb::Patch).attempts(1);
    scene.server.faults().add(silent);
    let options = RunOptions {
        workers: 1,
        reconcile_deadline: Some(Duration::from_secs(10)),
        ..options()
    };
    let mut registry = Registry::default();
    options.worker_metrics.register(&mut registry);
    options.queue_metrics.register(&mut registry);
    let start = Instant::now();
    scene.run_patiently(options);
    scene.until_replicas("api", 2).await;
    scene.until_replicas("web", 2).await;
    let took = start.elapsed().as_secs();
    assert!((10..15).contains(&took), "{took} s");
    // The queue is shown as long as it is.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for line in [
        "controller_runtime_reconcile_timeouts_total{controller=\"min-replicas\"} 1",
        "controller_runtime_max_concurrent_reconciles{controller=\"min-replicas\"} 1",
        "controller_runtime_active_workers{controller=\"min-replicas\"} 0",
        "workqueue_longest_running_processor_seconds{name=\"min-replicas\",controller=\"min-replicas\"} 0.0",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
    // The retry, and what is left of the wait if chance made the queue's shorter.
    let retries = "workqueue_retries_total{name=\"min-replicas\",controller=\"min-replicas\"} ";
    let retries = text.lines().find_map(|it| it.strip_prefix(retries));
    assert!(matches!(retries, Some("1" | "2")), "{retries:?}");
    // The one that hangs is still awaited at the end, for as long as a write may take.
    assert_eq!(scene.stop().await.unanswered, 1);
}

/// The refusal came in time; the read by which it is to be judged does not.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_and_costs_nothing_though_its_look_is_cut_off() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let refusal = Rule::new(Action::status(403).message("webhook says no"));
    let faults = scene.server.faults();
    faults.add(writes_of(refusal.attempts(1), "web"));
    let silent = Rule::new(Action::Hang).verb(Verb::Get);
    faults.add(silent.resource("deployments").attempts(1));
    let start = Instant::now();
    scene.run(RunOptions {
        reconcile_deadline: Some(10 * SECOND),
        max_raises_per_minute: NonZeroU32::new(1),
        resync: None,
        ..options()
    });
    scene
        .until_said("shop/web could not be raised from 1 to 2: webhook says no")
        .await;
    assert_eq!(start.elapsed().as_secs(), 10);
    // It has given its place in the minute back.
    scene.until_said("shop/web scaled from 1 to 2").await;
    let took = start.elapsed().as_secs();
    assert!((10..12).contains(&took), "{took} s");
    scene.stop().await;
}

/// Days later nobody would know which of the writes is meant.
#[tokio::test(start_paused = true)]
async fn a_lost_write_of_what_was_raised_since_is_not_unanswered() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let silent = Rule::new(Action::Hang).attempts(1);
    scene.server.faults().add(writes_of(silent, "web"));
    scene.run(RunOptions {
        reconcile_deadline: Some(10 * SECOND),
        resync: None,
        ..options()
    });
    scene.until_said("shop/web scaled from 1 to 2").await;
    assert_eq!(scene.patches().len(), 2);
    // Its request ends after 30 s.
    sleep(30 * SECOND).await;
    assert_eq!(scene.stop().await.unanswered, 0);
}

/// The same, where nothing but time is left: then it has to be said.
#[tokio::test(start_paused = true)]
async fn a_lost_write_of_what_nobody_looked_at_since_is_unanswered() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let silent = Rule::new(Action::Hang).attempts(1);
    scene.server.faults().add(writes_of(silent, "web"));
    let minute = 60 * SECOND;
    scene.run(RunOptions {
        reconcile_deadline: Some(10 * SECOND),
        retry: RetryDelays::new(minute, minute).unwrap(),
        resync: None,
        ..options()
    });
    sleep(40 * SECOND).await;
    assert_eq!(scene.patches().len(), 1);
    assert_eq!(scene.stop().await.unanswered, 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_comes_after_the_deadline_is_told() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let refusal = Action::status(500).message("webhook says no");
    let late = Rule::new(Action::Delay(15 * SECOND)).then(refusal);
    scene.server.faults().add(writes_of(late, "web"));
    let start = Instant::now();
    scene.run(RunOptions {
        reconcile_deadline: Some(10 * SECOND),
        ..options()
    });
    scene
        .until_said("shop/web could not be raised from 1 to 2: webhook says no")
        .await;
    assert_eq!(start.elapsed().as_secs(), 15);
    scene.stop().await;
}

/// The resync marks the key while it is in work, so that it is back at once.
#[tokio::test(start_paused = true)]
async fn a_raise_that_is_cut_off_waits_whatever_wakes_it() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let silent = Rule::new(Action::Hang);
    scene.server.faults().add(writes_of(silent, "web"));
    scene.run(RunOptions {
        reconcile_deadline: Some(2 * SECOND),
        retry: RetryDelays::new(8 * SECOND, 64 * SECOND).unwrap(),
        resync: Some(SECOND),
        ..options()
    });
    sleep(60 * SECOND).await;
    let times: Vec<_> = scene.patches().iter().map(|it| it.at).collect();
    let pauses: Vec<_> = times
        .windows(2)
        .map(|it| (it[1] - it[0]).as_secs())
        .collect();
    // The two seconds that each took, and 8 s, 16 s and so on with a little jitter.
    assert!(matches!(*pauses, [10, 18 | 19]), "{pauses:?}");
    scene.stop().await;
}
