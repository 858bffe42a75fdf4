use std::sync::Arc;
use std::time::Duration;

use controller_core::handler::{Band, Enqueue};
use controller_core::queue::{Depth, WorkQueue};
use futures::FutureExt;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const LATE: u32 = u32::MAX;

/// WQ-01: 50 producers, 10 consumers, and both ways to shut down.
#[tokio::test(start_paused = true)]
async fn all_keys_are_served_and_a_late_one_is_not() {
    for drain in [false, true] {
        let queue = WorkQueue::new("test");
        let mut producers = JoinSet::new();
        for _ in 0..50 {
            let queue = queue.clone();
            producers.spawn(async move {
                for key in 0..50 {
                    queue.add(key);
                    sleep(Duration::from_millis(1)).await;
                }
            });
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut consumers = JoinSet::new();
        for _ in 0..10 {
            let (queue, seen) = (queue.clone(), Arc::clone(&seen));
            consumers.spawn(async move {
                while let Some(ticket) = queue.get().await {
                    assert_ne!(*ticket, LATE, "served after the shutdown");
                    seen.lock().push(*ticket);
                    sleep(Duration::from_millis(3)).await;
                }
            });
        }
        producers.join_all().await;
        if drain {
            let drained = queue.shut_down_with_drain(far()).await;
            assert!(drained.completed);
        } else {
            queue.shut_down();
        }
        queue.add(LATE);
        consumers.join_all().await;

        let mut seen = std::mem::take(&mut *seen.lock());
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..50).collect::<Vec<u32>>());
        assert_eq!(queue.depth(), Depth::default());
    }
}

/// WQ-02: a worker that re-adds its own key is given it again, with both ways to shut down.
#[tokio::test(start_paused = true)]
async fn keys_added_by_their_own_worker_come_back_once() {
    for drain in [false, true] {
        let queue = WorkQueue::new("test");
        (0..50).for_each(|key| queue.add(key));
        let seen = Arc::new(Mutex::new(Vec::<u32>::new()));
        let mut consumers = JoinSet::new();
        for _ in 0..10 {
            let (queue, seen) = (queue.clone(), Arc::clone(&seen));
            consumers.spawn(async move {
                while let Some(ticket) = queue.get().await {
                    let first = !seen.lock().contains(&ticket);
                    seen.lock().push(*ticket);
                    if first {
                        queue.add(*ticket);
                    }
                    sleep(Duration::from_millis(3)).await;
                }
            });
        }
        sleep(Duration::from_secs(1)).await;
        if drain {
            assert!(queue.shut_down_with_drain(far()).await.completed);
        } else {
            queue.shut_down();
        }
        consumers.join_all().await;
        assert_eq!(seen.lock().len(), 100);
        assert_eq!(queue.len(), 0);
    }
}

/// WQ-04
#[test]
fn a_key_added_in_work_is_in_line_when_the_work_is_done() {
    let queue = WorkQueue::new("test");
    queue.add("foo");
    let ticket = take(&queue);
    queue.add("foo");
    assert_eq!(queue.len(), 0);
    drop(ticket);
    assert_eq!(*take(&queue), "foo");
    assert_eq!(queue.depth(), Depth::default());
}

/// WQ-05
#[test]
fn two_adds_of_a_waiting_key_are_one() {
    let queue = WorkQueue::new("test");
    queue.add("bar");
    queue.add("bar");
    assert_eq!(queue.len(), 1);
    drop(take(&queue));
    assert!(queue.get().now_or_never().is_none());
}

/// WQ-06
#[tokio::test]
async fn two_adds_of_a_key_in_work_are_one_and_wait_for_its_end() {
    let queue = WorkQueue::new("test");
    queue.add("foo");
    let ticket = take(&queue);
    queue.add("foo");
    queue.add("foo");
    let mut second = queue.get();
    assert!(futures::poll!(&mut second).is_pending());
    drop(ticket);
    let ticket = second.now_or_never().flatten().unwrap();
    assert_eq!(*ticket, "foo");
    drop(ticket);
    assert_eq!(queue.depth(), Depth::default());
}

/// WQ-11
#[test]
fn a_served_key_is_not_kept() {
    let queue = WorkQueue::new("test");
    let key = Arc::new(1);
    queue.add(Arc::clone(&key));
    drop(take(&queue));
    assert_eq!(Arc::strong_count(&key), 1, "the queue kept a clone");
}

/// WQ-11: a key may be remembered while the queue is busy, but no longer.
#[test]
fn a_queue_that_has_caught_up_keeps_no_key_but_those_delayed() {
    let queue = WorkQueue::new("test");
    let key = Arc::new(1);
    queue.add_after(Arc::new(0), Duration::from_secs(3600));
    queue.add(Arc::new(2));
    queue.add(Arc::clone(&key));
    queue.add(Arc::new(3));
    drop((take(&queue), take(&queue)));
    drop(take(&queue));
    assert_eq!(Arc::strong_count(&key), 1, "the queue kept a clone");
    assert_eq!(queue.depth().delayed, 1);
}

/// The caller keeps the key, and the queue has its two copies only if it did not know it.
#[test]
fn a_key_added_by_reference_is_cloned_only_if_it_is_not_known() {
    let queue = WorkQueue::new("test");
    let key = Arc::new(1);
    queue.add_ref(&key);
    queue.add_ref(&key);
    assert_eq!(Arc::strong_count(&key), 3);
    let ticket = take(&queue);
    queue.add_ref(&key);
    drop(ticket);
    assert_eq!(Arc::strong_count(&key), 3);
    drop(take(&queue));
    assert_eq!(Arc::strong_count(&key), 1);
}

/// A key is dropped outside of the lock, wherever it leaves the queue.
#[tokio::test(start_paused = true)]
async fn the_drop_of_a_key_may_call_the_queue() {
    #[derive(Clone)]
    struct Calls(u8, Arc<Mutex<Option<WorkQueue<Calls>>>>);

    impl PartialEq for Calls {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }

    impl Eq for Calls {}

    impl std::hash::Hash for Calls {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    impl Drop for Calls {
        fn drop(&mut self) {
            let queue = self.1.lock().clone();
            assert!(queue.is_none_or(|it| it.depth().delayed < 9));
        }
    }

    let (queue, handle) = (WorkQueue::new("test"), Arc::default());
    let key = |number| Calls(number, Arc::clone(&handle));
    *handle.lock() = Some(queue.clone());
    for number in [1, 1, 2, 3, 4] {
        queue.add(key(number));
    }
    queue.add_ref(&key(1));
    queue.add_after(key(1), Duration::from_secs(1));
    queue.add_after(key(8), Duration::from_secs(1));
    queue.add_after(key(9), Duration::from_secs(1));
    assert!(queue.cancel(&key(9)));
    let next = take(&queue).next();
    drop(next.await);
    queue.shut_down();
    queue.add(key(5));
    queue.shut_down_now();
    assert_eq!(queue.depth(), Depth::default());
    handle.lock().take();
}

/// The next key and the end of the work on the last one, in one step.
#[tokio::test]
async fn next_is_a_drop_and_a_get() {
    let queue = WorkQueue::new("test");
    queue.add("a");
    queue.add("b");
    let ticket = take(&queue);
    queue.add("a");
    let ticket = ticket.next().await.unwrap();
    assert_eq!(*ticket, "b");
    let ticket = ticket.next().await.unwrap();
    assert_eq!(*ticket, "a", "it was added in work");

    let next = ticket.next();
    queue.add("a");
    assert_eq!(queue.len(), 0, "the work is not done before the first poll");
    drop(next);
    assert_eq!(queue.len(), 1, "or the drop");

    let mut next = take(&queue).next();
    assert!(futures::poll!(&mut next).is_pending());
    assert_eq!(queue.depth(), Depth::default());
    queue.add("a");
    assert_eq!(*next.await.unwrap(), "a");
}

/// BX-04: what client-go calls a second `Done` cannot be written: a ticket is not `Clone`
/// and ends once. Nor can a ticket be made without a `get`.
#[test]
fn a_key_belongs_to_one_ticket_until_that_is_dropped() {
    let queue = WorkQueue::new("test");
    queue.add(1);
    let ticket = take(&queue);
    queue.add(1);
    assert!(queue.get().now_or_never().is_none());
    assert_eq!(format!("{ticket:?}"), "Ticket { item: 1, band: Live }");
    drop(ticket);
    assert_eq!(queue.len(), 1);
}

/// Handlers reach the queue by a trait of their own stage.
#[test]
fn a_handler_enqueues_in_either_band() {
    let queue = WorkQueue::new("test");
    let handlers: &dyn Enqueue<&str> = &queue;
    handlers.enqueue("old", Band::Background);
    handlers.enqueue("new", Band::Live);
    assert_eq!((queue.depth().live, queue.depth().background), (1, 1));
    assert_eq!(take(&queue).band(), Band::Live);
    assert_eq!(take(&queue).band(), Band::Background);
}

#[test]
fn a_handle_says_what_its_queue_holds() {
    let queue = WorkQueue::new("deployments");
    queue.add(1);
    insta::assert_snapshot!(
        format!("{queue:?}"),
        @r#"WorkQueue { name: "deployments", depth: Depth { live: 1, background: 0, delayed: 0, in_work: 0 }, .. }"#
    );
}

pub(crate) fn take<T: Clone + Eq + std::hash::Hash + Send + 'static>(
    queue: &WorkQueue<T>,
) -> controller_core::queue::Ticket<T> {
    let ticket = queue.get().now_or_never().expect("a key is in line");
    ticket.expect("the queue is open")
}

pub(crate) fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}
