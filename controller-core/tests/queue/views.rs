use std::sync::Arc;
use std::time::Duration;

use controller_core::queue::{
    DelayingQueue, FifoQueue, ItemFastSlow, RateLimitingQueue, WorkQueue,
};
use controller_core::worker::{Outcome, ReconcileError, Reconciler, WorkerPool};
use futures::FutureExt;
use parking_lot::Mutex;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use super::basics::far;
use super::limiters::ms;

/// All keys that come, with the time of each, until the queue has nothing for a minute.
async fn served(queue: &FifoQueue<&'static str>) -> Vec<(&'static str, Duration)> {
    let start = Instant::now();
    let mut served = Vec::new();
    let minute = Duration::from_secs(60);
    while let Ok(Some(ticket)) = tokio::time::timeout(minute, queue.get()).await {
        served.push((*ticket, start.elapsed()));
    }
    served
}

#[tokio::test(start_paused = true)]
async fn a_fifo_queue_serves_each_key_once_in_the_order_of_the_adds() {
    let queue = FifoQueue::new("reports");
    assert_eq!(queue.name(), "reports");
    for key in ["c", "a", "b", "a", "c"] {
        queue.add(key);
    }
    assert_eq!((queue.len(), queue.is_empty()), (3, false));
    let first = queue.get().await.unwrap();
    queue.add("c");
    queue.add("c");
    assert_eq!((queue.len(), queue.depth().in_work), (2, 1));
    drop(first);
    let at_once = |key| (key, Duration::ZERO);
    assert_eq!(served(&queue).await, ["a", "b", "c"].map(at_once));
}

/// WQ-07, WQ-08, through the view.
#[tokio::test(start_paused = true)]
async fn a_fifo_queue_ends_in_all_three_ways() {
    let queue = FifoQueue::new("reports");
    queue.add("a");
    let ticket = queue.get().await.unwrap();
    let mut drain = Box::pin(queue.shut_down_with_drain(far()));
    assert!(queue.is_shutting_down());
    queue.add("late");
    assert!(futures::poll!(&mut drain).is_pending());
    drop(ticket);
    assert!(drain.await.completed);
    assert!(queue.get().await.is_none());

    let queue = FifoQueue::new("reports");
    queue.add("a");
    queue.shut_down();
    assert_eq!(served(&queue).await, [("a", Duration::ZERO)]);

    let queue = FifoQueue::new("reports");
    queue.add("a");
    assert_eq!(queue.shut_down_now().abandoned, 1);
    assert!(queue.get().await.is_none());
}

/// client-go's `MetricsProvider`, which each kind of queue takes.
#[tokio::test]
async fn a_view_shows_the_metrics_of_its_queue() {
    let queue = DelayingQueue::new("reports");
    let mut registry = Registry::default();
    queue.register(&mut registry);
    queue.add("a");
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let adds = r#"workqueue_adds_total{name="reports",controller="reports"} 1"#;
    assert!(text.contains(adds), "{text}");
}

/// DQ-02b, DQ-03, BX-06, BX-07, through the view.
#[tokio::test(start_paused = true)]
async fn a_delaying_queue_serves_in_time() {
    let queue = DelayingQueue::new("certificates");
    queue.add_after("later", ms(50));
    queue.add_after("sooner", ms(70));
    queue.add_after("sooner", ms(20));
    queue.add_after("postponed", ms(10));
    queue.replace_after("postponed", ms(90));
    queue.add_after("never", ms(5));
    assert!(queue.cancel(&"never"));
    assert!(!queue.cancel(&"never"));
    queue.add_after("now", ms(5));
    queue.add("now");
    queue.add_after("zero", Duration::ZERO);
    let expected = [
        ("now", 0),
        ("zero", 0),
        ("sooner", 20),
        ("later", 50),
        ("postponed", 90),
    ];
    let expected = expected.map(|(key, millis)| (key, ms(millis)));
    assert_eq!(served(&queue).await, expected);
}

/// RL-07, through the view.
#[tokio::test(start_paused = true)]
async fn a_rate_limiting_queue_asks_its_limiter() {
    let limiter = ItemFastSlow::new(ms(10), ms(1000), 1).unwrap();
    let queue = RateLimitingQueue::with_limiter("deployments", limiter);
    for _ in 0..2 {
        queue.add_rate_limited("hot");
        let ticket = queue.get().await.unwrap();
        assert_eq!(*ticket, "hot");
    }
    assert_eq!(queue.num_requeues(&"hot"), 2);
    queue.add_rate_limited("hot");
    queue.add_rate_limited("other");
    assert_eq!(served(&queue).await, [("other", ms(10)), ("hot", ms(1000))]);
    queue.forget(&"hot");
    assert_eq!(queue.num_requeues(&"hot"), 0);

    let with_the_default = RateLimitingQueue::new("deployments");
    with_the_default.add_rate_limited("key");
    assert_eq!(served(&with_the_default).await, [("key", ms(5))]);
}

/// What asks for less takes more, as an interface of Go does.
#[tokio::test(start_paused = true)]
async fn a_view_is_another_handle_on_the_same_queue() {
    let queue = WorkQueue::new("deployments");
    let fifo = FifoQueue::from(queue.clone());
    let delaying = DelayingQueue::from(queue.clone());
    let rate_limiting = RateLimitingQueue::from(queue.clone());
    let all: [&FifoQueue<_>; 4] = [&fifo, &delaying, &rate_limiting, &rate_limiting.clone()];
    for view in all {
        assert_eq!(view.name(), "deployments");
    }
    fifo.clone().add("a");
    delaying.clone().add("a");
    rate_limiting.add("b");
    queue.add("c");
    assert!(all.iter().all(|view| view.len() == 3));
    fifo.shut_down();
    assert!(queue.is_shutting_down() && delaying.is_shutting_down());
    assert_eq!(
        format!("{fifo:?}").split(' ').next(),
        Some("FifoQueue(WorkQueue")
    );
}

struct Seen(Mutex<Vec<String>>, WorkQueue<String>);

impl Reconciler for Seen {
    type Key = String;

    async fn reconcile(&self, key: &String) -> Result<Outcome, ReconcileError> {
        self.0.lock().push(key.clone());
        self.1.shut_down();
        Ok(Outcome::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_serves_a_rate_limiting_queue() {
    let queue = RateLimitingQueue::new("deployments");
    queue.add_after("shop/web".to_owned(), ms(10));
    let whole = WorkQueue::from(queue);
    let seen = Arc::new(Seen(Mutex::default(), whole.clone()));
    WorkerPool::new(whole, Arc::clone(&seen), 1).run().await;
    assert_eq!(*seen.0.lock(), ["shop/web"]);
}

/// Nobody waits in vain, whichever view the key came through.
#[tokio::test(start_paused = true)]
async fn a_get_of_one_view_hears_an_add_of_another() {
    let queue = WorkQueue::new("deployments");
    let mut waiting = Box::pin(FifoQueue::from(queue.clone()).get());
    assert!(futures::poll!(&mut waiting).is_pending());
    RateLimitingQueue::from(queue).add("a");
    let ticket = waiting.now_or_never().expect("the key is in line");
    assert_eq!(*ticket.unwrap(), "a");
}
