use std::borrow::Cow;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::registry::Registry;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::depth::Depth;
use super::drain::{Drain, Drained};
use super::get::Get;
use super::incoming::Incoming;
use super::limiter::{ItemExponentialFailure, RateLimiter};
use super::metrics::QueueMetrics;
use super::phase::Phase;
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::state::Policy;
use crate::handler::{Band, Enqueue};

/// A queue of keys that want a look: each once, each in one worker at a time.
///
/// A clone is another handle on the same queue. Calls never block; only
/// [`get`](Self::get) and a drain wait.
///
/// client-go's rate-limiting queue, with what its users miss: two bands, delays that can
/// be postponed and cancelled, a drain that waits for the keys in line too, and a
/// [`Ticket`](super::Ticket) in place of `Done`.
///
/// ```
/// use controller_core::queue::WorkQueue;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = WorkQueue::new("deployments");
/// queue.add("shop/web");
/// queue.add("shop/web");
/// let ticket = queue.get().await.expect("a key is in line");
/// assert_eq!(*ticket, "shop/web");
///
/// queue.add("shop/web"); // while it is in work
/// assert_eq!(queue.len(), 0);
/// drop(ticket);
/// assert_eq!(queue.len(), 1);
/// # }
/// ```
///
/// The item is anything that can be compared and cloned, as a rule an
/// [`ObjectKey`](crate::client::ObjectKey). The queue has two of each that it knows, one to
/// compare others with and one to hand out. It is compared and cloned under the queue's lock,
/// so a cheap clone is worth having, and neither may call the queue. Hashing and dropping it
/// may. If hashing, comparing or cloning a key panics, so does the call that adds it, and the
/// queue goes on as if it had not been made. Two keys are compared only if they share a hash.
///
/// The dangerous mistake is to pass news through the queue: adds of one key are merged,
/// so a key may only say *which* object wants a look.
pub struct WorkQueue<T> {
    name: Arc<str>,
    controller: Arc<str>,
    pub(super) shared: Arc<Shared<T>>,
    limiter: Arc<dyn RateLimiter<T>>,
    halted: CancellationToken,
}

/// Makes a [`WorkQueue`]: see [`WorkQueue::builder`].
#[must_use = "call `build`"]
pub struct Builder<T> {
    name: Arc<str>,
    controller: Option<Arc<str>>,
    timestamps: bool,
    limiter: Option<Arc<dyn RateLimiter<T>>>,
}

// === impl WorkQueue ===

impl<T: Clone + Eq + Hash + Send + 'static> WorkQueue<T> {
    /// A queue with the default limiter, [`ItemExponentialFailure`]: 5 ms to 1000 s for
    /// each key by itself.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self::builder(name).build()
    }

    /// Sets out to make a queue. The name stands in the spans of the workers that serve it,
    /// and in its metrics.
    ///
    /// ```
    /// use controller_core::queue::{ItemFastSlow, WorkQueue};
    /// use tokio::time::Duration;
    ///
    /// # fn main() -> Result<(), controller_core::queue::LimiterError> {
    /// let limiter = ItemFastSlow::new(Duration::from_millis(50), Duration::from_secs(30), 5)?;
    /// let queue: WorkQueue<String> = WorkQueue::builder("volumes").rate_limiter(limiter).build();
    /// assert_eq!(queue.name(), "volumes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(name: impl Into<Arc<str>>) -> Builder<T> {
        Builder {
            name: name.into(),
            controller: None,
            timestamps: false,
            limiter: None,
        }
    }

    /// The name it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The controller that its metrics name.
    pub fn controller(&self) -> &str {
        &self.controller
    }

    /// Puts the key in line: something happened to its object.
    ///
    /// In line already: nothing, except that a background key moves to the end of the
    /// live band. In work: it goes back in line once, when the work is done. Delayed: the
    /// delay is over. Shutting down: ignored, as in client-go, and counted.
    pub fn add(&self, item: T) {
        self.add_in(Cow::Owned(item), Band::Live);
    }

    /// Like [`add`](Self::add) for a caller who keeps the key: it is cloned, twice, only if the
    /// queue does not know it. So the add of a key that is in line costs a look-up and no more.
    pub fn add_ref(&self, item: &T) {
        self.add_in(Cow::Borrowed(item), Band::Live);
    }

    /// Puts the key in line behind all live ones: nothing happened to its object, it is
    /// only looked at again. Of any 8 keys handed out, one is the background key that
    /// waited longest, so a flood of events delays it but does not starve it.
    pub fn add_background(&self, item: T) {
        self.add_in(Cow::Owned(item), Band::Background);
    }

    /// Puts the key in line after `delay`, unless something puts it there sooner: the
    /// earliest deadline counts, and an add before then is the end of the delay. So it
    /// does nothing for a key that is in line.
    ///
    /// It goes in line in the band from which it is in work just now, or else live. A delay
    /// of zero is an add, to the band that the key has already; one of more than a year is
    /// cut to a year. A delay ends with a whole millisecond, as timers do, and not before it is
    /// over; keys whose delays end with the same one keep the order in which they were added.
    ///
    /// The dangerous mistake is to count on a look at that very time: an event before then
    /// uses the delay up, and the reconcile that follows has to ask again.
    ///
    /// ```
    /// use controller_core::queue::WorkQueue;
    /// use tokio::time::{Duration, Instant};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let queue = WorkQueue::new("certificates");
    /// queue.add_after("shop/tls", Duration::from_secs(3600));
    /// queue.add_after("shop/tls", Duration::from_millis(10)); // the earlier one counts
    /// assert_eq!(queue.len(), 0);
    ///
    /// let start = Instant::now();
    /// assert_eq!(*queue.get().await.expect("the queue is open"), "shop/tls");
    /// assert!(start.elapsed() >= Duration::from_millis(10));
    /// # }
    /// ```
    pub fn add_after(&self, item: T, delay: Duration) {
        self.delay(item, delay, Policy::Earliest);
    }

    /// Like [`add_after`](Self::add_after), but the new deadline counts even if it is
    /// later. It postpones a delay only: a key that is in line stays there, and so does one
    /// that would be but for being in work, for its delay has passed.
    pub fn replace_after(&self, item: T, delay: Duration) {
        self.delay(item, delay, Policy::Replace);
    }

    /// Takes the key's delay away; true if it had one that has not passed. It does not take
    /// it out of the line, for a key there may carry news.
    pub fn cancel(&self, item: &T) -> bool {
        let hash = self.shared.hash(item);
        let (cancelled, _dropped) = self
            .shared
            .update(|inner, clock| inner.state.cancel(hash, item, clock));
        cancelled
    }

    /// Puts the key in line after as long as the limiter says: call it after a failure.
    ///
    /// Call it before the ticket is dropped: the band is that of the ticket, and a
    /// shutdown counts the retry that it drops. [`WorkerPool`](crate::worker::WorkerPool)
    /// does.
    pub fn add_rate_limited(&self, item: T) {
        let delay = self.limiter.when(&item);
        self.add_after(item, delay);
    }

    /// Tells the limiter that the key is fine now, so that its next failure waits the
    /// shortest time again. It does not touch the queue: a delay that the key has stays.
    pub fn forget(&self, item: &T) {
        self.limiter.forget(item);
    }

    /// How often the key was added rate-limited since it was last forgotten.
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.limiter.num_requeues(item)
    }

    /// How many keys are in line. Neither delayed keys nor those in work count.
    pub fn len(&self) -> usize {
        self.shared.update(|inner, _| inner.state.len())
    }

    /// Is no key in line?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many keys are in line, delayed and in work, all at one instant.
    pub fn depth(&self) -> Depth {
        self.shared.update(|inner, _| inner.state.depth())
    }

    /// All that can be told of the queue, read at one instant: what metrics are made of, for
    /// those who want them by other means than [`register`](Self::register).
    ///
    /// ```
    /// use controller_core::queue::WorkQueue;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let queue = WorkQueue::builder("deployments").timestamps().build();
    /// queue.add("shop/web");
    /// let ticket = queue.get().await.expect("a key is in line");
    /// queue.add("shop/web"); // while it is in work
    ///
    /// let snapshot = queue.snapshot();
    /// assert_eq!((snapshot.adds, snapshot.dirty_live), (2, 1));
    /// assert_eq!(snapshot.in_work[0].item, *ticket);
    /// assert!(snapshot.in_work[0].busy_for.is_some());
    /// # }
    /// ```
    pub fn snapshot(&self) -> Snapshot<T> {
        self.shared
            .update(|inner, clock| inner.state.snapshot(clock))
    }

    /// Makes the queue's metrics a part of `registry`, by the names that
    /// [`QueueMetrics`] lists.
    ///
    /// The dangerous mistake is to do so for two queues of one registry: each would describe
    /// the same metrics, and a scrape that describes one twice is refused. `QueueMetrics`
    /// takes any number of queues.
    pub fn register(&self, registry: &mut Registry) {
        let metrics = QueueMetrics::default();
        metrics.watch(self);
        metrics.register(registry);
    }

    /// The keys that [`shut_down_now`](Self::shut_down_now), or the deadline of a drain, cut
    /// off: those in work, then those in line, and the first ten of them, which is enough to
    /// name them to a person. [`Drained::abandoned`] counts all, and
    /// [`Drained::abandoned_in_work`] says where the one kind ends. Empty before.
    pub fn abandoned_keys(&self) -> Vec<T> {
        self.shared.update(|inner, _| inner.state.abandoned_keys())
    }

    /// Waits for a key and takes it. `None`, at once, when the queue is shutting down and
    /// no key is in line: the worker can go.
    ///
    /// The key is taken when the future is ready, never before, and a dropped future
    /// loses none. Needs a tokio runtime with time once a key is delayed.
    pub fn get(&self) -> Get<T> {
        Get::new(Arc::clone(&self.shared))
    }

    /// Closes the intake: later adds are ignored, delayed keys are dropped. The keys in
    /// line, and those added while in work, are still handed out. Waits for nothing, and
    /// lets go of drains that wait.
    pub fn shut_down(&self) {
        drop(self.shared.update(|inner, clock| {
            inner.state.release();
            inner.state.shut_down(clock)
        }));
    }

    /// Closes the intake, at the call and not only when awaited, then waits until no key
    /// is in line or in work.
    ///
    /// At `deadline` the queue is [halted](Self::shut_down_now): workers get no more keys
    /// and [`halted`](Self::halted) tells them to stop. A later
    /// [`shut_down`](Self::shut_down) ends the wait without that. Several drains may wait;
    /// the first deadline counts for all.
    ///
    /// The dangerous mistake is to await this in a worker: its own ticket never ends.
    ///
    /// ```
    /// use controller_core::queue::WorkQueue;
    /// use tokio::time::{Duration, Instant};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let queue = WorkQueue::new("deployments");
    /// queue.add("shop/web");
    /// queue.add_after("shop/cart", Duration::from_secs(30));
    /// let drain = queue.shut_down_with_drain(Instant::now() + Duration::from_secs(25));
    ///
    /// let worker = async {
    ///     while let Some(_ticket) = queue.get().await {}
    /// };
    /// let (drained, ()) = tokio::join!(drain, worker);
    /// assert!(drained.completed);
    /// assert_eq!(drained.dropped_delayed, 1);
    /// # }
    /// ```
    pub fn shut_down_with_drain(
        &self,
        deadline: Instant,
    ) -> impl Future<Output = Drained> + Send + use<T> {
        let mut drain = Drain::new(Arc::clone(&self.shared));
        let queue = self.clone();
        async move {
            match timeout_at(deadline, &mut drain).await {
                Ok(drained) => drained,
                Err(_) => queue.shut_down_now(),
            }
        }
    }

    /// A drain that no timer ends, for models that have no runtime.
    #[cfg(queue_loom)]
    #[doc(hidden)]
    pub fn drain_without_deadline(&self) -> impl Future<Output = Drained> + Send + use<T> {
        Drain::new(Arc::clone(&self.shared))
    }

    /// Closes the intake, drops the keys in line too, and tells the workers to stop, by
    /// [`halted`](Self::halted). Drains that wait return with the same count.
    ///
    /// Tickets stay valid: it is for the workers to end what they are at.
    pub fn shut_down_now(&self) -> Drained {
        let (_dropped, drained) = self.shared.update(|inner, clock| {
            let dropped = inner.state.halt(clock);
            (dropped, inner.state.progress().into())
        });
        self.halted.cancel();
        drained
    }

    /// Is the intake closed?
    pub fn is_shutting_down(&self) -> bool {
        self.shared
            .update(|inner, _| inner.state.phase() != Phase::Open)
    }

    /// Waits for the moment from which no work is to be done any more: the deadline of a
    /// drain, or [`shut_down_now`](Self::shut_down_now). Ready at once if that has passed.
    ///
    /// Whoever holds a ticket for long waits for this beside its work, as the workers of
    /// [`WorkerPool`](crate::worker::WorkerPool) do.
    pub fn halted(&self) -> impl Future<Output = ()> + Send + use<T> {
        self.halted.clone().cancelled_owned()
    }

    /// Its name and its controller's.
    pub(super) fn names(&self) -> (Arc<str>, Arc<str>) {
        (Arc::clone(&self.name), Arc::clone(&self.controller))
    }

    fn add_in(&self, item: Cow<'_, T>, band: Band) {
        let hash = self.shared.hash(&item);
        let mut key = Incoming::new(item);
        self.shared
            .update(|inner, clock| inner.state.add(hash, &mut key, Some(band), clock));
    }

    fn delay(&self, item: T, delay: Duration, policy: Policy) {
        let hash = self.shared.hash(&item);
        let mut key = Incoming::new(Cow::Owned(item));
        self.shared.update(|inner, clock| {
            let state = &mut inner.state;
            state.add_after(hash, &mut key, delay, policy, clock);
        });
    }
}

impl<T> Clone for WorkQueue<T> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            controller: Arc::clone(&self.controller),
            shared: Arc::clone(&self.shared),
            limiter: Arc::clone(&self.limiter),
            halted: self.halted.clone(),
        }
    }
}

impl<T> fmt::Debug for WorkQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue")
            .field("name", &self.name)
            .field("depth", &self.shared.update(|inner, _| inner.state.depth()))
            .finish_non_exhaustive()
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> Enqueue<T> for WorkQueue<T> {
    fn enqueue(&self, key: T, band: Band) {
        self.add_in(Cow::Owned(key), band);
    }
}

// === impl Builder ===

impl<T: Clone + Eq + Hash + Send + 'static> Builder<T> {
    /// Sets who says how long a failed key waits.
    pub fn rate_limiter(mut self, limiter: impl RateLimiter<T>) -> Self {
        self.limiter = Some(Arc::new(limiter));
        self
    }

    /// Sets the controller that the metrics name; as a rule, and by default, it has the name
    /// of the queue.
    pub fn controller(mut self, controller: impl Into<Arc<str>>) -> Self {
        self.controller = Some(controller.into());
        self
    }

    /// Has the queue note when keys come and go, for [`Ticket::queued_for`] and
    /// [`Snapshot`]. That takes three readings of the clock a key, and nothing else does.
    ///
    /// [`Ticket::queued_for`]: super::Ticket::queued_for
    pub fn timestamps(mut self) -> Self {
        self.timestamps = true;
        self
    }

    /// Makes the queue.
    pub fn build(self) -> WorkQueue<T> {
        let shared = Shared::new();
        if self.timestamps {
            shared.take_timestamps();
        }
        WorkQueue {
            controller: self.controller.unwrap_or_else(|| Arc::clone(&self.name)),
            name: self.name,
            shared: Arc::new(shared),
            limiter: self
                .limiter
                .unwrap_or_else(|| Arc::new(ItemExponentialFailure::default())),
            halted: CancellationToken::new(),
        }
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
