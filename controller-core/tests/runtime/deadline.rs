use std::time::Duration;

use controller_core::runtime::RunOptions;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::Instant;

use crate::harness::{Scene, deployment, options};

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
    // The one that hangs is still awaited at the end, for as long as a write may take.
    assert_eq!(scene.stop().await.unanswered, 1);

    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for line in [
        "controller_runtime_reconcile_timeouts_total{controller=\"min-replicas\"} 1",
        "controller_runtime_max_concurrent_reconciles{controller=\"min-replicas\"} 1",
        "controller_runtime_active_workers{controller=\"min-replicas\"} 0",
        "workqueue_longest_running_processor_seconds{name=\"min-replicas\",controller=\"min-replicas\"} 0.0",
        "workqueue_retries_total{name=\"min-replicas\",controller=\"min-replicas\"} 1",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
}
