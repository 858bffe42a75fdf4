//! What is told of a queue, by its exposition text.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]
use std::time::Duration;

use controller_core::queue::{QueueMetrics, WorkQueue};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use proptest::prelude::*;
use tokio::time::{advance, sleep};

use super::basics::{far, take};

/// The registry's text.
fn text(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    text
}

/// The samples alone, without the buckets that hold nothing more than the one before.
fn samples(registry: &Registry) -> String {
    let text = text(registry);
    let mut last = "0".to_owned();
    let mut kept = Vec::new();
    for line in text.lines().filter(|it| !it.starts_with('#')) {
        let count = line.rsplit(' ').next().unwrap();
        if line.contains("_bucket{") {
            if count != last {
                kept.push(line);
            }
            last = count.to_owned();
        } else {
            kept.push(line);
            last = "0".to_owned();
        }
    }
    kept.join("\n")
}

fn registered(queue: &WorkQueue<&'static str>) -> Registry {
    let mut registry = Registry::default();
    queue.register(&mut registry);
    registry
}

/// The names, labels and buckets are controller-runtime's.
#[tokio::test(start_paused = true)]
async fn the_names_labels_and_buckets() {
    let queue = WorkQueue::builder("deployments")
        .controller("min-replicas")
        .build();
    let registry = registered(&queue);
    queue.add_background("a");
    queue.add_after("b", Duration::from_secs(1));
    insta::assert_snapshot!(text(&registry), @r#"
    # HELP workqueue_depth Keys that want a worker.
    # TYPE workqueue_depth gauge
    workqueue_depth{name="deployments",controller="min-replicas",priority="0"} 0
    workqueue_depth{name="deployments",controller="min-replicas",priority="-100"} 1
    # HELP workqueue_adds Keys that came to want a worker.
    # TYPE workqueue_adds counter
    workqueue_adds_total{name="deployments",controller="min-replicas"} 1
    # HELP workqueue_queue_duration_seconds How long keys wait for a worker.
    # TYPE workqueue_queue_duration_seconds histogram
    workqueue_queue_duration_seconds_sum{name="deployments",controller="min-replicas"} 0.0
    workqueue_queue_duration_seconds_count{name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="1e-8",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="1e-7",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="0.000001",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="0.00001",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="0.0001",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="0.001",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="0.01",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="0.1",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="1.0",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="10.0",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="100.0",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="1000.0",name="deployments",controller="min-replicas"} 0
    workqueue_queue_duration_seconds_bucket{le="+Inf",name="deployments",controller="min-replicas"} 0
    # HELP workqueue_work_duration_seconds How long a worker has a key.
    # TYPE workqueue_work_duration_seconds histogram
    workqueue_work_duration_seconds_sum{name="deployments",controller="min-replicas"} 0.0
    workqueue_work_duration_seconds_count{name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="1e-8",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="1e-7",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="0.000001",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="0.00001",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="0.0001",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="0.001",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="0.01",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="0.1",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="1.0",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="10.0",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="100.0",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="1000.0",name="deployments",controller="min-replicas"} 0
    workqueue_work_duration_seconds_bucket{le="+Inf",name="deployments",controller="min-replicas"} 0
    # HELP workqueue_unfinished_work_seconds How long the keys that are in work have been so, together.
    # TYPE workqueue_unfinished_work_seconds gauge
    workqueue_unfinished_work_seconds{name="deployments",controller="min-replicas"} 0.0
    # HELP workqueue_longest_running_processor_seconds How long the key that was taken first of those in work has been so.
    # TYPE workqueue_longest_running_processor_seconds gauge
    workqueue_longest_running_processor_seconds{name="deployments",controller="min-replicas"} 0.0
    # HELP workqueue_retries Adds with a delay.
    # TYPE workqueue_retries counter
    workqueue_retries_total{name="deployments",controller="min-replicas"} 1
    # HELP controller_core_queue_delayed Keys that wait for a deadline.
    # TYPE controller_core_queue_delayed gauge
    controller_core_queue_delayed{name="deployments",controller="min-replicas"} 1
    # HELP controller_core_queue_refused Adds that came after the shutdown.
    # TYPE controller_core_queue_refused counter
    controller_core_queue_refused_total{name="deployments",controller="min-replicas"} 0
    # EOF
    "#);
}

/// WQ-13: client-go's own example, to the last digit.
#[tokio::test(start_paused = true)]
async fn client_gos_worked_example_gives_its_numbers() {
    let queue = WorkQueue::new("q");
    let registry = registered(&queue);
    queue.add("foo");
    advance(us(50)).await;
    let ticket = take(&queue);
    for _ in 0..5 {
        queue.add("foo");
    }
    insta::assert_snapshot!(samples(&registry), @r#"
    workqueue_depth{name="q",controller="q",priority="0"} 1
    workqueue_depth{name="q",controller="q",priority="-100"} 0
    workqueue_adds_total{name="q",controller="q"} 2
    workqueue_queue_duration_seconds_sum{name="q",controller="q"} 0.00005
    workqueue_queue_duration_seconds_count{name="q",controller="q"} 1
    workqueue_queue_duration_seconds_bucket{le="0.0001",name="q",controller="q"} 1
    workqueue_work_duration_seconds_sum{name="q",controller="q"} 0.0
    workqueue_work_duration_seconds_count{name="q",controller="q"} 0
    workqueue_unfinished_work_seconds{name="q",controller="q"} 0.0
    workqueue_longest_running_processor_seconds{name="q",controller="q"} 0.0
    workqueue_retries_total{name="q",controller="q"} 0
    controller_core_queue_delayed{name="q",controller="q"} 0
    controller_core_queue_refused_total{name="q",controller="q"} 0
    "#);

    advance(us(25)).await;
    drop(ticket);
    let ticket = take(&queue);
    advance(us(1_000)).await;
    insta::assert_snapshot!(samples(&registry), @r#"
    workqueue_depth{name="q",controller="q",priority="0"} 0
    workqueue_depth{name="q",controller="q",priority="-100"} 0
    workqueue_adds_total{name="q",controller="q"} 2
    workqueue_queue_duration_seconds_sum{name="q",controller="q"} 0.000075
    workqueue_queue_duration_seconds_count{name="q",controller="q"} 2
    workqueue_queue_duration_seconds_bucket{le="0.0001",name="q",controller="q"} 2
    workqueue_work_duration_seconds_sum{name="q",controller="q"} 0.000025
    workqueue_work_duration_seconds_count{name="q",controller="q"} 1
    workqueue_work_duration_seconds_bucket{le="0.0001",name="q",controller="q"} 1
    workqueue_unfinished_work_seconds{name="q",controller="q"} 0.001
    workqueue_longest_running_processor_seconds{name="q",controller="q"} 0.001
    workqueue_retries_total{name="q",controller="q"} 0
    controller_core_queue_delayed{name="q",controller="q"} 0
    controller_core_queue_refused_total{name="q",controller="q"} 0
    "#);
    drop(ticket);
}

/// WQ-12: client-go's metrics task must end. Here is none, and nothing counts on.
#[tokio::test(start_paused = true)]
async fn after_a_drain_nothing_changes_any_more() {
    let queue = WorkQueue::new("q");
    let registry = registered(&queue);
    queue.add("a");
    queue.add_after("b", Duration::from_secs(60));
    let ticket = take(&queue);
    let drain = queue.shut_down_with_drain(far());
    drop(ticket);
    assert!(drain.await.completed);
    queue.add("late");
    let before = samples(&registry);
    insta::assert_snapshot!(before, @r#"
    workqueue_depth{name="q",controller="q",priority="0"} 0
    workqueue_depth{name="q",controller="q",priority="-100"} 0
    workqueue_adds_total{name="q",controller="q"} 1
    workqueue_queue_duration_seconds_sum{name="q",controller="q"} 0.0
    workqueue_queue_duration_seconds_count{name="q",controller="q"} 1
    workqueue_queue_duration_seconds_bucket{le="1e-8",name="q",controller="q"} 1
    workqueue_work_duration_seconds_sum{name="q",controller="q"} 0.0
    workqueue_work_duration_seconds_count{name="q",controller="q"} 1
    workqueue_work_duration_seconds_bucket{le="1e-8",name="q",controller="q"} 1
    workqueue_unfinished_work_seconds{name="q",controller="q"} 0.0
    workqueue_longest_running_processor_seconds{name="q",controller="q"} 0.0
    workqueue_retries_total{name="q",controller="q"} 1
    controller_core_queue_delayed{name="q",controller="q"} 0
    controller_core_queue_refused_total{name="q",controller="q"} 1
    "#);
    advance(Duration::from_secs(3600)).await;
    assert_eq!(samples(&registry), before);
}

/// A key in work whose delay has passed wants a worker, though it is not in line yet.
#[tokio::test(start_paused = true)]
async fn the_depth_counts_a_delay_that_passed_in_work() {
    let queue = WorkQueue::new("q");
    let registry = registered(&queue);
    queue.add_background("a");
    let ticket = take(&queue);
    queue.add_after("a", Duration::from_secs(1));
    let depth = || {
        let samples = samples(&registry);
        let lines = samples.lines().filter(|it| it.contains("_depth"));
        let values = lines.map(|it| it.rsplit(' ').next().unwrap().to_owned());
        values.collect::<Vec<_>>()
    };
    assert_eq!(depth(), ["0", "0"]);
    advance(Duration::from_secs(1)).await;
    assert_eq!(depth(), ["0", "1"]);
    drop(ticket);
    assert_eq!(depth(), ["0", "1"]);
}

/// One description for all of them: a scrape with two is refused as a whole.
#[tokio::test]
async fn queues_of_one_registry_share_their_descriptions() {
    let (numbers, names) = (WorkQueue::<u32>::new("numbers"), WorkQueue::new("names"));
    let metrics = QueueMetrics::default();
    let mut registry = Registry::default();
    metrics.watch(&numbers);
    metrics.register(&mut registry);
    metrics.watch(&names);
    names.add("a");
    let text = text(&registry);
    let descriptions = text.lines().filter(|it| it.contains("TYPE workqueue_adds"));
    assert_eq!(descriptions.count(), 1);
    let adds = text.lines().filter(|it| it.starts_with("workqueue_adds"));
    assert_eq!(
        adds.collect::<Vec<_>>(),
        [
            r#"workqueue_adds_total{name="numbers",controller="numbers"} 0"#,
            r#"workqueue_adds_total{name="names",controller="names"} 1"#,
        ]
    );
    assert_eq!(format!("{metrics:?}"), "QueueMetrics { queues: 2, .. }");
}

/// A program that runs its controller a second time: two series of the same labels would have
/// Prometheus refuse the whole scrape.
#[tokio::test]
async fn a_queue_takes_the_place_of_the_former_of_its_name() {
    let metrics = QueueMetrics::default();
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let adds = || {
        let text = samples(&registry);
        let adds = text.lines().filter(|it| it.contains("_adds_total"));
        adds.map(str::to_owned).collect::<Vec<_>>()
    };
    let first = WorkQueue::new("q");
    metrics.watch(&first);
    first.add("a");
    first.add("b");
    assert_eq!(
        adds(),
        [r#"workqueue_adds_total{name="q",controller="q"} 2"#]
    );
    let second = WorkQueue::new("q");
    metrics.watch(&second);
    metrics.watch(&second);
    second.add("a");
    assert_eq!(
        adds(),
        [r#"workqueue_adds_total{name="q",controller="q"} 1"#]
    );
    let third = WorkQueue::<&str>::builder("q").controller("other").build();
    metrics.watch(&third);
    assert_eq!(adds().len(), 2, "another controller is another series");
}

#[tokio::test]
async fn a_queue_that_is_gone_is_not_kept_and_not_shown() {
    let key = std::sync::Arc::new(());
    let queue = WorkQueue::new("q");
    let metrics = QueueMetrics::default();
    metrics.watch(&queue);
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    queue.add(key.clone());
    assert!(samples(&registry).contains("workqueue_adds_total"));
    drop(queue);
    assert_eq!(std::sync::Arc::strong_count(&key), 1);
    assert_eq!(samples(&registry), "");
}

proptest! {
    /// controller-runtime #3066: the depth fell below zero. Here it is what the queue holds.
    #[test]
    fn the_depth_is_what_the_queue_holds(steps in prop::collection::vec((0..4_u8, 0..5_u8), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let queue = WorkQueue::new("q");
            let mut registry = Registry::default();
            queue.register(&mut registry);
            let mut tickets = Vec::new();
            for (step, key) in steps {
                match step {
                    0 => queue.add(key),
                    1 => queue.add_background(key),
                    2 if queue.is_empty() => sleep(us(1)).await,
                    2 => tickets.push(take(&queue)),
                    _ => drop(tickets.pop()),
                }
                let snapshot = queue.snapshot();
                let dirty = snapshot.dirty_live + snapshot.dirty_background;
                let marked = dirty - queue.len();
                assert!(marked <= tickets.len());
                let told: usize = samples(&registry)
                    .lines()
                    .filter(|it| it.contains("_depth"))
                    .map(|it| it.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
                    .sum();
                assert_eq!(told, dirty);
            }
        });
    }
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}
