//! What workers count, by its exposition text.

use std::sync::Arc;
use std::time::Duration;

use controller_core::worker::{WorkerMetrics, WorkerPool};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::time::{sleep, timeout};

use super::scripted::{Scripted, Step, queue, stop_after};

/// The series of a controller are there, and 0, before its first call.
#[test]
fn the_names_types_and_words() {
    let metrics = WorkerMetrics::default();
    metrics.controller("deployments");
    let text = text(&metrics);
    let described = text.lines().filter(|it| it.starts_with('#'));
    insta::assert_snapshot!(described.collect::<Vec<_>>().join("\n"), @r"
    # HELP controller_runtime_reconcile Total number of reconciliations per controller.
    # TYPE controller_runtime_reconcile counter
    # HELP controller_runtime_reconcile_errors Total number of reconciliation errors per controller.
    # TYPE controller_runtime_reconcile_errors counter
    # HELP controller_runtime_terminal_reconcile_errors Total number of terminal reconciliation errors per controller.
    # TYPE controller_runtime_terminal_reconcile_errors counter
    # HELP controller_runtime_reconcile_panics Total number of reconciliation panics per controller.
    # TYPE controller_runtime_reconcile_panics counter
    # HELP controller_runtime_reconcile_timeouts Total number of reconciliation timeouts per controller.
    # TYPE controller_runtime_reconcile_timeouts counter
    # HELP controller_runtime_reconcile_time_seconds Length of time per reconciliation per controller.
    # TYPE controller_runtime_reconcile_time_seconds histogram
    # HELP controller_runtime_max_concurrent_reconciles Maximum number of concurrent reconciles per controller.
    # TYPE controller_runtime_max_concurrent_reconciles gauge
    # HELP controller_runtime_active_workers Number of currently used workers per controller.
    # TYPE controller_runtime_active_workers gauge
    # EOF
    ");
    let zero = samples(&text, |it| !it.contains("bucket"));
    insta::assert_snapshot!(zero, @r#"
    controller_runtime_active_workers{controller="deployments"} 0
    controller_runtime_max_concurrent_reconciles{controller="deployments"} 0
    controller_runtime_reconcile_errors_total{controller="deployments"} 0
    controller_runtime_reconcile_panics_total{controller="deployments"} 0
    controller_runtime_reconcile_time_seconds_count{controller="deployments"} 0
    controller_runtime_reconcile_time_seconds_sum{controller="deployments"} 0.0
    controller_runtime_reconcile_timeouts_total{controller="deployments"} 0
    controller_runtime_reconcile_total{controller="deployments",result="error"} 0
    controller_runtime_reconcile_total{controller="deployments",result="requeue"} 0
    controller_runtime_reconcile_total{controller="deployments",result="requeue_after"} 0
    controller_runtime_reconcile_total{controller="deployments",result="success"} 0
    controller_runtime_terminal_reconcile_errors_total{controller="deployments"} 0
    "#);
}

/// Every way for a call to end.
#[tokio::test(start_paused = true)]
async fn every_call_counts_by_how_it_ended_and_how_long_it_took() {
    let queue = queue();
    for key in ["done", "again", "fails", "gives up", "boom", "slow"] {
        queue.add(key);
    }
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("again", 0) => Step::RequeueAfter(10),
        ("fails", 0) => Step::Fail("for now"),
        ("gives up", _) => Step::GiveUp("for good"),
        ("boom", 0) => Step::Panic("on purpose"),
        ("slow", 0) => Step::Hang,
        _ => Step::Take(120),
    });
    let metrics = WorkerMetrics::default();
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 3)
        .metrics(&metrics)
        .reconcile_deadline(Duration::from_millis(700));
    let (drained, _) = tokio::join!(stop_after(5_000, &queue), pool.run());
    assert!(drained.completed);
    let text = samples(&text(&metrics), |_| true);
    insta::assert_snapshot!(text, @r#"
    controller_runtime_active_workers{controller="test"} 0
    controller_runtime_max_concurrent_reconciles{controller="test"} 3
    controller_runtime_reconcile_errors_total{controller="test"} 4
    controller_runtime_reconcile_panics_total{controller="test"} 1
    controller_runtime_reconcile_time_seconds_bucket{le="0.005",controller="test"} 4
    controller_runtime_reconcile_time_seconds_bucket{le="0.01",controller="test"} 4
    controller_runtime_reconcile_time_seconds_bucket{le="0.025",controller="test"} 4
    controller_runtime_reconcile_time_seconds_bucket{le="0.05",controller="test"} 4
    controller_runtime_reconcile_time_seconds_bucket{le="0.1",controller="test"} 4
    controller_runtime_reconcile_time_seconds_bucket{le="0.15",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.2",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.25",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.3",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.35",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.4",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.45",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.5",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.6",controller="test"} 9
    controller_runtime_reconcile_time_seconds_bucket{le="0.7",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="0.8",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="0.9",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="1.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="1.25",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="1.5",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="1.75",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="2.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="2.5",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="3.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="3.5",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="4.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="4.5",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="5.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="6.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="7.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="8.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="9.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="10.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="15.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="20.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="25.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="30.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="40.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="50.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="60.0",controller="test"} 10
    controller_runtime_reconcile_time_seconds_bucket{le="+Inf",controller="test"} 10
    controller_runtime_reconcile_time_seconds_count{controller="test"} 10
    controller_runtime_reconcile_time_seconds_sum{controller="test"} 1.2999999999999999
    controller_runtime_reconcile_timeouts_total{controller="test"} 1
    controller_runtime_reconcile_total{controller="test",result="error"} 4
    controller_runtime_reconcile_total{controller="test",result="requeue"} 0
    controller_runtime_reconcile_total{controller="test",result="requeue_after"} 1
    controller_runtime_reconcile_total{controller="test",result="success"} 5
    controller_runtime_terminal_reconcile_errors_total{controller="test"} 1
    "#);
}

/// They say how it stands when they are asked.
#[tokio::test(start_paused = true)]
async fn a_worker_is_active_while_it_has_a_call() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    queue.add("c");
    let metrics = WorkerMetrics::default();
    let active = || samples(&text(&metrics), |it| it.contains("active_workers"));
    let reconciler = Scripted::new(|key, _| match key {
        "a" => Step::Take(100),
        "b" => Step::HangAndPanic,
        _ => Step::Hang,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 3).metrics(&metrics);
    let watching = async {
        assert_eq!(active(), ACTIVE.to_owned() + "0", "before the first");
        sleep(Duration::from_millis(50)).await;
        assert_eq!(active(), ACTIVE.to_owned() + "3");
        sleep(Duration::from_millis(100)).await;
        assert_eq!(active(), ACTIVE.to_owned() + "2", "one is done");
    };
    let ((drained, _), ()) = tokio::join!(
        async { tokio::join!(stop_after(1_000, &queue), pool.run()) },
        watching
    );
    assert_eq!(drained.abandoned, 2);
    assert_eq!(active(), ACTIVE.to_owned() + "0", "the others were cut off");
}

/// Also of a pool that nobody waits for any more.
#[tokio::test(start_paused = true)]
async fn no_worker_stays_active_when_its_pool_is_dropped() {
    let queue = queue();
    queue.add("a");
    let metrics = WorkerMetrics::default();
    let reconciler = Scripted::new(|_, _| Step::Hang);
    let pool = WorkerPool::new(queue.clone(), reconciler, 1).metrics(&metrics);
    assert!(timeout(Duration::from_secs(1), pool.run()).await.is_err());
    tokio::task::yield_now().await;
    let text = samples(&text(&metrics), |it| {
        !it.contains("bucket") && !it.ends_with(" 0")
    });
    insta::assert_snapshot!(text, @r#"
    controller_runtime_max_concurrent_reconciles{controller="test"} 1
    controller_runtime_reconcile_time_seconds_sum{controller="test"} 0.0
    "#);
}

/// Two controllers are two values of a label, in one registry.
#[test]
fn controllers_of_one_program_are_told_apart_by_their_label() {
    let metrics = WorkerMetrics::default();
    metrics.controller("one");
    metrics.controller("two");
    metrics.controller("two");
    let text = text(&metrics);
    let errors = samples(&text, |it| it.contains("runtime_reconcile_errors"));
    insta::assert_snapshot!(errors, @r#"
    controller_runtime_reconcile_errors_total{controller="one"} 0
    controller_runtime_reconcile_errors_total{controller="two"} 0
    "#);
    assert_eq!(
        text.matches("# TYPE controller_runtime_reconcile_errors ")
            .count(),
        1
    );
}

const ACTIVE: &str = "controller_runtime_active_workers{controller=\"test\"} ";

fn text(metrics: &WorkerMetrics) -> String {
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).expect("a String takes everything");
    text
}

/// The samples that are wanted, sorted, but buckets in their order.
fn samples(text: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|it| !it.starts_with('#') && wanted(it))
        .collect();
    lines.sort_by_key(|line| match line.split_once("{le=") {
        Some((name, _)) => name,
        None => *line,
    });
    lines.join("\n")
}
