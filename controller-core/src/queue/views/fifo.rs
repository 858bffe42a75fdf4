use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use prometheus_client::registry::Registry;
use tokio::time::Instant;

use crate::queue::{Depth, Drained, Get, WorkQueue};

/// A plain queue: each key once, first in, first out, each in one worker at a time.
///
/// client-go's `workqueue.TypedInterface`. A clone is another handle on the same queue, and
/// so is one made [from](From) a clone of a [`WorkQueue`].
///
/// | client-go | here |
/// |---|---|
/// | `NewTypedWithConfig(TypedQueueConfig{Name: …})` | [`new`](Self::new), always with a name |
/// | `TypedQueueConfig{MetricsProvider: …}` | [`register`](Self::register) |
/// | `Add`, `Len` | [`add`](Self::add), [`len`](Self::len) |
/// | `item, shutdown := Get()` | `while let Some(ticket) = queue.get().await` |
/// | `defer queue.Done(item)` | nothing: the [`Ticket`](crate::queue::Ticket) does it |
/// | `ShutDown`, `ShuttingDown` | [`shut_down`](Self::shut_down), [`is_shutting_down`](Self::is_shutting_down) |
/// | `ShutDownWithDrain` | [`shut_down_with_drain`](Self::shut_down_with_drain), which has a deadline and waits for the keys in line too |
///
/// ```
/// use controller_core::queue::FifoQueue;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = FifoQueue::new("reports");
/// for key in ["monday", "tuesday", "monday"] {
///     queue.add(key);
/// }
/// queue.shut_down();
/// let mut served = Vec::new();
/// while let Some(ticket) = queue.get().await {
///     served.push(*ticket);
/// }
/// assert_eq!(served, ["monday", "tuesday"]);
/// # }
/// ```
///
/// The order is that of the adds as long as all go through a view. A [`WorkQueue`] that
/// feeds the same queue may add keys to the background, which come later.
///
/// # What cannot be written
///
/// client-go's `Done` takes any item at any time. Called for one that is in line it puts it
/// there a second time; forgotten, it keeps the item from ever being served again. Here it
/// is the drop of the ticket, which the compiler counts. A ticket is gone after its first:
///
/// ```compile_fail,E0382
/// # use controller_core::queue::FifoQueue;
/// # async fn serve(queue: FifoQueue<String>) {
/// let ticket = queue.get().await.expect("a key is in line");
/// drop(ticket);
/// drop(ticket);
/// # }
/// ```
///
/// There is no second one (what can be cloned is the key that it derefs to):
///
/// ```compile_fail,E0308
/// # use controller_core::queue::{FifoQueue, Ticket};
/// # async fn serve(queue: FifoQueue<String>) {
/// let ticket = queue.get().await.expect("a key is in line");
/// let another: Ticket<String> = ticket.clone();
/// # }
/// ```
///
/// And nobody but a queue makes one, so nothing is done that was not got:
///
/// ```compile_fail,E0599
/// # use controller_core::queue::FifoQueue;
/// # fn serve(queue: FifoQueue<String>) {
/// queue.done("shop/web");
/// # }
/// ```
///
/// ```compile_fail,E0277
/// # use controller_core::queue::Ticket;
/// let forged: Ticket<String> = "shop/web".to_owned().into();
/// ```
pub struct FifoQueue<T> {
    queue: WorkQueue<T>,
}

// === impl FifoQueue ===

impl<T: Clone + Eq + Hash + Send + 'static> FifoQueue<T> {
    /// An empty queue. The name is that of its [metrics](Self::register).
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        WorkQueue::new(name).into()
    }

    /// The name it was given.
    pub fn name(&self) -> &str {
        self.queue.name()
    }

    /// Puts the key in line, unless it is there. In work: it goes back in line once, when the
    /// work is done. Shutting down: ignored. See [`WorkQueue::add`].
    pub fn add(&self, item: T) {
        self.queue.add(item);
    }

    /// Waits for a key and takes it; `None` is the end. See [`WorkQueue::get`].
    pub fn get(&self) -> Get<T> {
        self.queue.get()
    }

    /// How many keys are in line. Those in work do not count, as in client-go.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Is no key in line?
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many keys are in line and in work, all at one instant. Delayed are those to which
    /// somebody has given a delay through a richer view of the same queue.
    pub fn depth(&self) -> Depth {
        self.queue.depth()
    }

    /// Closes the intake and waits for nothing. The keys in line are still handed out. See
    /// [`WorkQueue::shut_down`].
    pub fn shut_down(&self) {
        self.queue.shut_down();
    }

    /// Closes the intake at the call, then waits until no key is in line or in work, but not
    /// beyond `deadline`. See [`WorkQueue::shut_down_with_drain`].
    pub fn shut_down_with_drain(
        &self,
        deadline: Instant,
    ) -> impl Future<Output = Drained> + Send + use<T> {
        self.queue.shut_down_with_drain(deadline)
    }

    /// Closes the intake and drops the keys in line too. See [`WorkQueue::shut_down_now`].
    pub fn shut_down_now(&self) -> Drained {
        self.queue.shut_down_now()
    }

    /// Is the intake closed?
    pub fn is_shutting_down(&self) -> bool {
        self.queue.is_shutting_down()
    }

    /// Makes the queue's metrics a part of `registry`: client-go's `MetricsProvider`. See
    /// [`WorkQueue::register`].
    pub fn register(&self, registry: &mut Registry) {
        self.queue.register(registry);
    }

    /// For the views that can do more.
    pub(super) fn whole(&self) -> &WorkQueue<T> {
        &self.queue
    }
}

impl<T> From<WorkQueue<T>> for FifoQueue<T> {
    fn from(queue: WorkQueue<T>) -> Self {
        Self { queue }
    }
}

impl<T> Clone for FifoQueue<T> {
    fn clone(&self) -> Self {
        self.queue.clone().into()
    }
}

impl<T> fmt::Debug for FifoQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FifoQueue").field(&self.queue).finish()
    }
}
