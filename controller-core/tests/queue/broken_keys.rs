//! One key that cannot be cloned is no reason to stop the others.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use controller_core::queue::{Depth, WorkQueue};
use futures::FutureExt;
use tokio::time::{Instant, timeout};

use super::basics::{far, take};

/// A key that panics when it is cloned while it is `broken`.
#[derive(Debug)]
struct Fragile {
    name: &'static str,
    broken: Arc<AtomicBool>,
    clones: Arc<AtomicUsize>,
}

/// A key that panics when it is dropped if it is the [`FRAGILE`] one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Undroppable(u8);

thread_local! {
    static FRAGILE: Cell<Option<u8>> = const { Cell::new(None) };
}

#[tokio::test(start_paused = true)]
async fn a_key_that_cannot_be_cloned_lets_the_others_pass_and_keeps_nobody_busy() {
    let queue = WorkQueue::new("test");
    let (bad, broken, clones) = fragile("bad");
    broken.store(true, Ordering::Relaxed);
    queue.add(bad);
    queue.add(fragile("good").0);
    let start = Instant::now();
    assert_eq!(take(&queue).name, "good");
    assert!(timeout(Duration::from_secs(35), queue.get()).await.is_err());
    assert_eq!(clones.load(Ordering::Relaxed), 4, "at 0, 10, 20 and 30 s");
    broken.store(false, Ordering::Relaxed);
    let ticket = queue.get().await.expect("the queue is open");
    assert_eq!(ticket.name, "bad");
    assert_eq!(start.elapsed(), Duration::from_secs(40));
}

#[tokio::test(start_paused = true)]
async fn a_drain_drops_a_key_that_cannot_be_cloned_and_counts_it() {
    let queue = WorkQueue::new("test");
    let (bad, broken, _) = fragile("bad");
    broken.store(true, Ordering::Relaxed);
    queue.add(bad);
    let drain = queue.shut_down_with_drain(far());
    assert!(queue.get().await.is_none());
    let drained = drain.await;
    assert!(drained.completed);
    assert_eq!(drained.dropped_delayed, 1);
    assert_eq!(queue.depth(), Depth::default());
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

// === impl Undroppable ===

impl Drop for Undroppable {
    fn drop(&mut self) {
        if FRAGILE.get() == Some(self.0) {
            FRAGILE.set(None);
            panic!("on purpose");
        }
    }
}
