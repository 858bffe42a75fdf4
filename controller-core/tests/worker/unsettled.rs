//! Every key that is taken is settled, also one whose call never came to its end.

use std::fmt::{self, Display};
use std::hash::{Hash, Hasher};
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::handler::Band;
use controller_core::queue::{Depth, RateLimiter, WorkQueue};
use controller_core::worker::{Outcome, ReconcileError, Reconciler, WorkerPool};
use tokio::time::{sleep, timeout};
use tracing::Level;

use super::scripted::{Key, Scripted, Step, queue, run_for};

/// Which of its abilities a [`Touchy`] key fails in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    Clone,
    Hash,
    Eq,
    Drop,
}

/// A key that panics once, when what is `trap` is done to it for the last time that is allowed.
#[derive(Debug)]
struct Touchy {
    trap: Trap,
    left: Arc<AtomicIsize>,
}

/// Fails, then asks for another look, then is done.
struct ThreeLooks(AtomicUsize);

/// A limiter that panics with what panics when it is dropped.
struct Mined;

struct Bomb;

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_dropped_gives_its_keys_back() {
    let queue = queue();
    queue.add("settled");
    queue.add("a");
    queue.add_background("b");
    let reconciler = Scripted::new(|key, before| match (key, before) {
        ("a" | "b", 0) => Step::Hang,
        _ => Step::Done,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 2);
    assert!(timeout(Duration::from_secs(1), pool.run()).await.is_err());
    let ticket = queue.get().await.expect("the queue is open");
    assert_eq!((*ticket, ticket.band()), ("a", Band::Live));
    queue.add("a");
    drop(ticket);
    let (drained, _) = run_for(1_000, &queue, &reconciler, 1).await;
    assert!(drained.completed);
    assert_eq!(reconciler.calls("a"), [0, 1_000]);
    assert_eq!(reconciler.calls("b"), [0, 1_000]);
    assert_eq!(reconciler.calls("settled"), [0]);
}

/// Its band stays what it was: a first list does not become urgent by a restart.
#[tokio::test(start_paused = true)]
async fn a_key_given_back_keeps_its_band() {
    let queue = queue();
    queue.add_background("a");
    let reconciler = Scripted::new(|_, _| Step::Hang);
    let pool = WorkerPool::new(queue.clone(), reconciler, 1);
    assert!(timeout(Duration::from_secs(1), pool.run()).await.is_err());
    let ticket = queue.get().await.expect("the queue is open");
    assert_eq!(ticket.band(), Band::Background);
}

/// While the queue drains a key in work is still owed to whoever asked for it.
#[tokio::test(start_paused = true)]
async fn a_key_given_back_during_a_drain_is_still_handed_out() {
    let queue = queue();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Hang,
        _ => Step::Done,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1);
    let shut_down = async {
        sleep(Duration::from_millis(500)).await;
        queue.shut_down();
    };
    let (dropped, ()) = tokio::join!(timeout(Duration::from_secs(1), pool.run()), shut_down);
    assert!(dropped.is_err());
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1);
    tokio::task::yield_now().await;
    assert_eq!(pool.run().await.reconciled, 1);
}

/// The four things that a queue does with a key, at each of the moments at which it does them.
#[tokio::test(start_paused = true)]
async fn whenever_a_key_panics_it_is_not_lost() {
    for trap in [Trap::Clone, Trap::Hash, Trap::Eq, Trap::Drop] {
        for allowed in 0..20 {
            let left = Arc::new(AtomicIsize::new(isize::MAX));
            let queue = WorkQueue::new("test");
            queue.add(Touchy {
                trap,
                left: Arc::clone(&left),
            });
            left.store(allowed, Ordering::Relaxed);
            let looks = Arc::new(ThreeLooks(AtomicUsize::new(0)));
            let pool = WorkerPool::new(queue.clone(), Arc::clone(&looks), 1);
            let stop = async {
                sleep(Duration::from_secs(60)).await;
                assert_eq!(queue.depth(), Depth::default(), "{trap:?} {allowed}");
                queue.shut_down();
            };
            tokio::join!(pool.run(), stop);
            let looks = looks.0.load(Ordering::Relaxed);
            assert!((3..=4).contains(&looks), "{trap:?} {allowed}: {looks}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_could_not_be_settled_is_named() {
    let (log, _guard) = CapturedLog::start(Level::ERROR);
    let left = Arc::new(AtomicIsize::new(1));
    let queue = WorkQueue::new("test");
    queue.add(Touchy {
        trap: Trap::Clone,
        left,
    });
    let pool = WorkerPool::new(queue.clone(), Arc::new(ThreeLooks(AtomicUsize::new(0))), 1);
    let stop = async {
        sleep(Duration::from_secs(1)).await;
        queue.shut_down();
    };
    tokio::join!(pool.run(), stop);
    insta::assert_snapshot!(log.text(), @"ERROR the key could not be settled, it is looked at again in 10s key=shop/touchy error=panicked: on purpose");
}

#[tokio::test(start_paused = true)]
async fn a_panic_that_panics_when_it_is_dropped_loses_no_key() {
    let queue = WorkQueue::builder("test").rate_limiter(Mined).build();
    queue.add("a");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Fail("once"),
        _ => Step::Done,
    });
    let (drained, summary) = run_for(60_000, &queue, &reconciler, 1).await;
    assert!(drained.completed);
    assert_eq!(reconciler.calls("a"), [0, 10_000]);
    assert_eq!((summary.failed, summary.reconciled), (1, 1));
}

// === impl Touchy ===

impl Touchy {
    fn touched(&self, trap: Trap) {
        if self.trap == trap && self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            panic!("on purpose");
        }
    }
}

impl Clone for Touchy {
    fn clone(&self) -> Self {
        self.touched(Trap::Clone);
        Self {
            trap: self.trap,
            left: Arc::clone(&self.left),
        }
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        self.touched(Trap::Drop);
    }
}

impl Hash for Touchy {
    fn hash<H: Hasher>(&self, _: &mut H) {
        self.touched(Trap::Hash);
    }
}

impl PartialEq for Touchy {
    fn eq(&self, _: &Self) -> bool {
        self.touched(Trap::Eq);
        true
    }
}

impl Eq for Touchy {}

impl Display for Touchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("shop/touchy")
    }
}

// === impl ThreeLooks ===

impl Reconciler for ThreeLooks {
    type Key = Touchy;

    async fn reconcile(&self, _: &Touchy) -> Result<Outcome, ReconcileError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(ReconcileError::transient("not yet")),
            1 => Ok(Outcome::RequeueAfter(Duration::from_millis(50))),
            _ => Ok(Outcome::Done),
        }
    }
}

// === impl Mined ===

impl RateLimiter<Key> for Mined {
    fn when(&self, _: &Key) -> Duration {
        panic_any(Bomb)
    }

    fn forget(&self, _: &Key) {}

    fn num_requeues(&self, _: &Key) -> u32 {
        0
    }
}

// === impl Bomb ===

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped on purpose");
    }
}
