use std::sync::Arc;
use std::time::Duration;

use controller_core::queue::{Drained, ItemExponentialFailure, WorkQueue};
use controller_core::worker::{
    Outcome, PoolSummary, ReconcileError, ReconcileRequest, Reconciler, WorkerPool,
};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

pub(crate) type Key = &'static str;

/// What one call does.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Done,
    /// Takes this many milliseconds, then is done.
    Take(u64),
    RequeueAfter(u64),
    NotYet(u64),
    Fail(&'static str),
    GiveUp(&'static str),
    Panic(&'static str),
    Hang,
    /// Hangs, and panics when it is given up.
    HangAndPanic,
}

/// A reconciler that does what its script says, and remembers when it was called.
///
/// The script is given the key and how many calls came before for it.
pub(crate) struct Scripted {
    script: Box<dyn Fn(Key, usize) -> Step + Send + Sync>,
    start: Instant,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    calls: Vec<(Key, Duration)>,
    requests: Vec<ReconcileRequest<Key>>,
    under_way: Vec<Key>,
    most_at_once: usize,
}

/// Takes a call off the list when it ends, also when it is dropped or panics.
struct UnderWay<'a>(&'a Scripted, Key);

struct PanicsWhenDropped;

/// A queue with waits of 100, 200, 400 ms, …, 10 s.
pub(crate) fn queue() -> WorkQueue<Key> {
    let (base, max) = (Duration::from_millis(100), Duration::from_secs(10));
    let limiter = ItemExponentialFailure::new(base, max).expect("the longest is above the first");
    WorkQueue::builder("test").rate_limiter(limiter).build()
}

/// Lets `workers` workers run for `millis`, then gives them another second to drain.
pub(crate) async fn run_for(
    millis: u64,
    queue: &WorkQueue<Key>,
    reconciler: &Arc<Scripted>,
    workers: usize,
) -> (Drained, PoolSummary) {
    let pool = WorkerPool::new(queue.clone(), Arc::clone(reconciler), workers);
    tokio::join!(stop_after(millis, queue), pool.run())
}

/// Drains the queue after `millis`, with a deadline of a second.
pub(crate) async fn stop_after(millis: u64, queue: &WorkQueue<Key>) -> Drained {
    sleep(Duration::from_millis(millis)).await;
    let deadline = Instant::now() + Duration::from_secs(1);
    queue.shut_down_with_drain(deadline).await
}

// === impl Scripted ===

impl Scripted {
    pub(crate) fn new(script: impl Fn(Key, usize) -> Step + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            script: Box::new(script),
            start: Instant::now(),
            seen: Mutex::default(),
        })
    }

    /// When the calls for `key` began, in milliseconds.
    pub(crate) fn calls(&self, key: Key) -> Vec<u128> {
        let seen = self.seen.lock();
        let of_key = seen.calls.iter().filter(|it| it.0 == key);
        of_key.map(|it| it.1.as_millis()).collect()
    }

    /// What the calls for `key` were told, in order.
    pub(crate) fn requests(&self, key: Key) -> Vec<ReconcileRequest<Key>> {
        let seen = self.seen.lock();
        let of_key = seen.requests.iter().filter(|it| *it.key() == key);
        of_key.cloned().collect()
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.seen.lock().most_at_once
    }

    pub(crate) fn under_way(&self) -> usize {
        self.seen.lock().under_way.len()
    }

    fn begin(&self, key: Key) -> UnderWay<'_> {
        let mut seen = self.seen.lock();
        assert!(!seen.under_way.contains(&key), "{key} is in two workers");
        seen.calls.push((key, self.start.elapsed()));
        seen.under_way.push(key);
        seen.most_at_once = seen.most_at_once.max(seen.under_way.len());
        UnderWay(self, key)
    }
}

impl Reconciler for Scripted {
    type Key = Key;

    async fn reconcile(&self, key: &Key) -> Result<Outcome, ReconcileError> {
        let step = (self.script)(key, self.calls(key).len());
        let _under_way = self.begin(key);
        match step {
            Step::Done => Ok(Outcome::Done),
            Step::Take(millis) => {
                sleep(Duration::from_millis(millis)).await;
                Ok(Outcome::Done)
            }
            Step::RequeueAfter(millis) => Ok(Outcome::RequeueAfter(Duration::from_millis(millis))),
            Step::NotYet(millis) => Ok(Outcome::NotYet(Duration::from_millis(millis))),
            Step::Fail(message) => Err(ReconcileError::transient(message)),
            Step::GiveUp(message) => Err(ReconcileError::terminal(message)),
            Step::Panic(message) => panic!("{message}"),
            Step::Hang => std::future::pending().await,
            Step::HangAndPanic => {
                let _bomb = PanicsWhenDropped;
                std::future::pending().await
            }
        }
    }

    async fn reconcile_request(
        &self,
        request: &ReconcileRequest<Key>,
    ) -> Result<Outcome, ReconcileError> {
        self.seen.lock().requests.push(request.clone());
        self.reconcile(request.key()).await
    }
}

// === impl UnderWay ===

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.seen.lock().under_way.retain(|key| *key != self.1);
    }
}

// === impl PanicsWhenDropped ===

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped on purpose");
    }
}
