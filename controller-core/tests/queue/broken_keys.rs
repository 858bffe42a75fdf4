//! One key that cannot be cloned or dropped is no reason to stop the others.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use controller_core::queue::{Depth, WorkQueue};
use futures::FutureExt;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::basics::take;

/// A key that panics when it is cloned while it is `broken`.
#[derive(Debug)]
struct Fragile {
    name: &'static str,
    broken: Arc<AtomicBool>,
    clones: Arc<AtomicUsize>,
}

/// A key that panics whenever it is dropped if it is the [`FRAGILE`] one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Undroppable(u32);

/// A key that calls its queue when it is dropped, and panics the next time that it is cloned or
/// compared so often.
struct Meddler {
    name: &'static str,
    queue: WorkQueue<Meddler>,
    clones_left: Arc<AtomicUsize>,
    looks_left: Arc<AtomicUsize>,
}

type Add<T> = fn(&WorkQueue<T>, T);

thread_local! {
    static FRAGILE: Cell<Option<u32>> = const { Cell::new(None) };
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// Whoever adds it hears of it, and the queue is as it was before.
#[tokio::test(start_paused = true)]
async fn a_key_that_cannot_be_cloned_is_not_added() {
    let queue = WorkQueue::new("test");
    let (bad, broken, _) = fragile("bad");
    queue.add(fragile("good").0);
    for (add, _) in ways_to_add() {
        broken.store(false, Ordering::Relaxed);
        let bad = bad.clone();
        broken.store(true, Ordering::Relaxed);
        let added = catch_unwind(AssertUnwindSafe(|| add(&queue, bad)));
        assert!(added.is_err());
        let now = queue.snapshot();
        assert_eq!((now.depth.live, now.adds, now.retries), (1, 1, 0));
        assert_eq!(now.depth.delayed, 0);
    }
    broken.store(false, Ordering::Relaxed);
    queue.add_after(bad, Duration::from_secs(1));
    assert_eq!(take(&queue).name, "good");
    let ticket = queue.get().await.expect("the queue is open");
    assert_eq!(ticket.name, "bad");
}

/// The worker hands back what it was given, so that its key is neither cloned for each look nor
/// can any of them fail in that.
#[test]
fn a_key_is_cloned_once_however_often_it_is_served() {
    let queue = WorkQueue::new("test");
    let (key, broken, clones) = fragile("often");
    queue.add_ref(&key);
    assert_eq!(clones.load(Ordering::Relaxed), 2, "one is the caller's");
    broken.store(true, Ordering::Relaxed);
    for _ in 0..5 {
        let ticket = take(&queue);
        queue.add_ref(&key);
        drop(ticket);
    }
    queue.add(fragile("another").0);
    for _ in 0..5 {
        assert_eq!(take(&queue).name, "often");
        queue.add_ref(&key);
        assert_eq!(take(&queue).name, "another");
        queue.add(fragile("another").0);
    }
    assert_eq!(clones.load(Ordering::Relaxed), 2);
}

#[test]
fn a_key_that_cannot_be_cloned_does_not_keep_the_queue_from_halting() {
    let queue = WorkQueue::new("test");
    let (bad, broken, _) = fragile("bad");
    queue.add(bad);
    queue.add(fragile("good").0);
    queue.add(fragile("in line").0);
    let tickets = [take(&queue), take(&queue)];
    broken.store(true, Ordering::Relaxed);
    let drained = queue.shut_down_now();
    assert_eq!((drained.abandoned, drained.abandoned_in_work), (3, 2));
    assert!(queue.halted().now_or_never().is_some());
    let names: Vec<_> = queue.abandoned_keys().iter().map(|it| it.name).collect();
    assert_eq!(names, ["good", "in line"]);
    drop(tickets);
    assert_eq!(queue.depth(), Depth::default());
}

/// Each with how often it clones a key that is not known.
fn ways_to_add<T>() -> [(Add<T>, usize); 4]
where
    T: Clone + Eq + Hash + Send + 'static,
{
    [
        (|queue, key| queue.add(key), 1),
        (|queue, key| queue.add_ref(&key), 2),
        (|queue, key| queue.add_background(key), 1),
        (|queue, key| queue.add_after(key, Duration::from_secs(1)), 1),
    ]
}

fn fragile(name: &'static str) -> (Fragile, Arc<AtomicBool>, Arc<AtomicUsize>) {
    let (broken, clones) = (Arc::default(), Arc::default());
    let key = Fragile {
        name,
        broken: Arc::clone(&broken),
        clones: Arc::clone(&clones),
    };
    (key, broken, clones)
}

/// The key whose work was over just then is not the one that the caller waits for.
#[test]
fn a_key_that_panics_when_it_is_dropped_takes_no_other_along() {
    let queue = WorkQueue::new("test");
    queue.add(Undroppable(1));
    queue.add(Undroppable(2));
    let mut next = take(&queue).next();
    queue.shut_down();
    FRAGILE.set(Some(1));
    let polled = catch_unwind(AssertUnwindSafe(|| (&mut next).now_or_never()));
    assert!(polled.is_err());
    assert_eq!(*take(&queue), Undroppable(2));
}

/// The panic of one copy, or of one key, is not that of another, in whatever place they are.
#[test]
fn a_queue_is_dropped_with_keys_that_panic_then() {
    for place in ["in line", "delayed", "remembered", "abandoned", "failing"] {
        let queue = WorkQueue::new("test");
        FRAGILE.set(None);
        queue.add(Undroppable(1));
        match place {
            "delayed" => {
                drop(take(&queue));
                queue.add_after(Undroppable(1), Duration::from_secs(1));
            }
            "remembered" => {
                queue.add(Undroppable(2));
                drop(take(&queue));
            }
            "abandoned" => drop(queue.shut_down_now()),
            "failing" => queue.add_rate_limited(Undroppable(1)),
            _ => {}
        }
        FRAGILE.set(Some(1));
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(queue)));
        assert!(dropped.is_err(), "{place}");
    }
}

/// The key of another worker, which left long ago.
#[test]
fn a_key_that_is_forgotten_panics_in_nobodys_hands() {
    const MORE_THAN_ARE_REMEMBERED: u32 = 17_000;
    let queue = WorkQueue::new("test");
    for key in 1..=MORE_THAN_ARE_REMEMBERED {
        queue.add(Undroppable(key));
    }
    FRAGILE.set(Some(1));
    for _ in 1..MORE_THAN_ARE_REMEMBERED {
        drop(take(&queue));
    }
    FRAGILE.set(None);
    assert_eq!(queue.depth().live, 1);
    assert_eq!(PANICS.get(), 2, "those of its two copies");
}

/// Neither for who asks nor for the metrics.
#[test]
fn a_key_in_work_that_cannot_be_cloned_hides_no_other() {
    let queue = WorkQueue::new("test");
    let (bad, broken, _) = fragile("bad");
    let names = |queue: &WorkQueue<Fragile>| {
        let in_work = queue.snapshot().in_work.into_iter();
        in_work.map(|it| it.item.name).collect::<Vec<_>>()
    };
    queue.add(fragile("good").0);
    queue.add(bad);
    let mut registry = Registry::default();
    queue.register(&mut registry);
    let _tickets = [take(&queue), take(&queue)];
    assert_eq!(names(&queue), ["good", "bad"]);
    broken.store(true, Ordering::Relaxed);
    assert_eq!(names(&queue), ["good"]);
    assert_eq!(queue.snapshot().depth.in_work, 2);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    assert!(text.contains("workqueue_unfinished_work_seconds"), "{text}");
}

/// What is not kept is dropped without the lock, however the add ended.
#[test]
fn the_drop_of_a_key_that_cannot_be_added_may_call_the_queue() {
    for (add, clones) in ways_to_add() {
        for left in 0..clones {
            let queue = WorkQueue::new("test");
            let key = meddler(&queue, "a");
            key.clones_left.store(left, Ordering::Relaxed);
            assert!(catch_unwind(AssertUnwindSafe(|| add(&queue, key))).is_err());
            assert_eq!(queue.depth(), Depth::default());
        }
        let queue = WorkQueue::new("test");
        let first = meddler(&queue, "a");
        let looks_left = Arc::clone(&first.looks_left);
        queue.add(first);
        looks_left.store(0, Ordering::Relaxed);
        let second = meddler(&queue, "a");
        assert!(catch_unwind(AssertUnwindSafe(|| add(&queue, second))).is_err());
        looks_left.store(usize::MAX, Ordering::Relaxed);
        assert_eq!(take(&queue).name, "a");
        assert_eq!(queue.depth(), Depth::default());
    }
}

fn meddler(queue: &WorkQueue<Meddler>, name: &'static str) -> Meddler {
    Meddler {
        name,
        queue: queue.clone(),
        clones_left: Arc::new(AtomicUsize::new(usize::MAX)),
        looks_left: Arc::new(AtomicUsize::new(usize::MAX)),
    }
}

/// A key that has left long ago does not keep the workers from being told to stop.
#[test]
fn a_remembered_key_that_panics_when_it_is_dropped_does_not_hold_up_a_halt() {
    let queue = WorkQueue::new("test");
    queue.add(Undroppable(1));
    queue.add(Undroppable(2));
    drop(take(&queue));
    FRAGILE.set(Some(1));
    let halted = catch_unwind(AssertUnwindSafe(|| queue.shut_down_now()));
    assert!(halted.is_err());
    assert!(queue.halted().now_or_never().is_some());
}

// === impl Fragile ===

impl Clone for Fragile {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::Relaxed);
        assert!(!self.broken.load(Ordering::Relaxed), "on purpose");
        Self {
            name: self.name,
            broken: Arc::clone(&self.broken),
            clones: Arc::clone(&self.clones),
        }
    }
}

impl PartialEq for Fragile {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Fragile {}

impl Hash for Fragile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

// === impl Meddler ===

impl Meddler {
    fn pay(left: &AtomicUsize) {
        let before = left.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(before, 0, "on purpose");
    }
}

impl Clone for Meddler {
    fn clone(&self) -> Self {
        Self::pay(&self.clones_left);
        Self {
            name: self.name,
            queue: self.queue.clone(),
            clones_left: Arc::clone(&self.clones_left),
            looks_left: Arc::clone(&self.looks_left),
        }
    }
}

impl PartialEq for Meddler {
    fn eq(&self, other: &Self) -> bool {
        Self::pay(&self.looks_left);
        self.name == other.name
    }
}

impl Eq for Meddler {}

impl Hash for Meddler {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.queue.len();
    }
}

// === impl Undroppable ===

impl Drop for Undroppable {
    fn drop(&mut self) {
        if FRAGILE.get() == Some(self.0) {
            PANICS.set(PANICS.get() + 1);
            panic!("on purpose");
        }
    }
}
