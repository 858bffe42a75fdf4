use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::FifoQueue;
use crate::queue::WorkQueue;

/// A queue that keys can be added to for later.
///
/// client-go's `workqueue.TypedDelayingInterface`: a [`FifoQueue`], to which it derefs, with
/// `AddAfter`. What differs:
///
/// - an [`add`](FifoQueue::add) is the end of the key's delay, so that it does not come a
///   second time at its old deadline;
/// - a delay can be postponed and cancelled;
/// - no task and no channel are behind it: [`add_after`](Self::add_after) never blocks;
/// - the end drops the delayed keys and [says how many](crate::queue::Drained).
///
/// ```
/// use controller_core::queue::DelayingQueue;
/// use tokio::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = DelayingQueue::new("certificates");
/// queue.add_after("web", Duration::from_millis(20));
/// queue.add_after("api", Duration::from_millis(10));
/// queue.add_after("old", Duration::from_millis(5));
/// assert!(queue.cancel(&"old"));
/// queue.add("now");
/// for key in ["now", "api", "web"] {
///     assert_eq!(*queue.get().await.expect("the queue is open"), key);
/// }
/// # }
/// ```
pub struct DelayingQueue<T> {
    fifo: FifoQueue<T>,
}

// === impl DelayingQueue ===

impl<T: Clone + Eq + Hash + Send + 'static> DelayingQueue<T> {
    /// An empty queue. The name is that of its [metrics](FifoQueue::register).
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        WorkQueue::new(name).into()
    }

    /// Puts the key in line after `delay`, unless something puts it there sooner. Of two
    /// delays the earlier deadline counts; a delay of zero is over at once. See
    /// [`WorkQueue::add_after`].
    pub fn add_after(&self, item: T, delay: Duration) {
        self.whole().add_after(item, delay);
    }

    /// Like `add_after`, but the new deadline counts even if it is later. A key that is in
    /// line stays there. See [`WorkQueue::replace_after`].
    pub fn replace_after(&self, item: T, delay: Duration) {
        self.whole().replace_after(item, delay);
    }

    /// Takes the key's delay away; true if it had one. See [`WorkQueue::cancel`].
    pub fn cancel(&self, item: &T) -> bool {
        self.whole().cancel(item)
    }
}

impl<T> Deref for DelayingQueue<T> {
    type Target = FifoQueue<T>;

    fn deref(&self) -> &FifoQueue<T> {
        &self.fifo
    }
}

impl<T> From<WorkQueue<T>> for DelayingQueue<T> {
    fn from(queue: WorkQueue<T>) -> Self {
        Self { fifo: queue.into() }
    }
}

impl<T> Clone for DelayingQueue<T> {
    fn clone(&self) -> Self {
        Self {
            fifo: self.fifo.clone(),
        }
    }
}

impl<T> fmt::Debug for DelayingQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DelayingQueue").field(&self.fifo).finish()
    }
}
