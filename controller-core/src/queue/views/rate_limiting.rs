use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

use super::DelayingQueue;
use crate::queue::{RateLimiter, WorkQueue};

/// A queue that knows how long a failed key should wait.
///
/// client-go's `workqueue.TypedRateLimitingInterface`: a [`DelayingQueue`], to which it
/// derefs, with a [`RateLimiter`]. The one that controllers use. Its default limiter is for
/// each key by itself; client-go's has a bucket for all keys in it, in which one key that
/// fails all the time makes every other wait.
///
/// A worker's loop, of which [`WorkerPool`](crate::worker::WorkerPool) is the complete form
/// (it takes a [`WorkQueue`], which this one can be made [into](From)):
///
/// ```
/// use controller_core::queue::{ItemFastSlow, RateLimitingQueue};
/// use tokio::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), controller_core::queue::LimiterError> {
/// let limiter = ItemFastSlow::new(Duration::from_millis(5), Duration::from_secs(10), 3)?;
/// let queue = RateLimitingQueue::with_limiter("deployments", limiter);
/// queue.add("shop/web");
///
/// let mut tries = 0;
/// while let Some(ticket) = queue.get().await {
///     tries += 1;
///     let succeeded = tries == 3; // the work on *ticket goes here
///     if succeeded {
///         queue.forget(&ticket);
///         queue.shut_down();
///     } else {
///         queue.add_rate_limited(*ticket);
///     }
/// }
/// assert_eq!(tries, 3);
/// assert_eq!(queue.num_requeues(&"shop/web"), 0);
/// # Ok(())
/// # }
/// ```
///
/// The dangerous mistake is client-go's too: a success without a [`forget`](Self::forget)
/// leaves the key's failures counted, and its next one waits for long.
pub struct RateLimitingQueue<T> {
    delaying: DelayingQueue<T>,
}

// === impl RateLimitingQueue ===

impl<T: Clone + Eq + Hash + Send + 'static> RateLimitingQueue<T> {
    /// An empty queue with the default limiter: see [`WorkQueue::new`]. The name is
    /// that of its [metrics](super::FifoQueue::register), and of the spans of a pool.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        WorkQueue::new(name).into()
    }

    /// An empty queue with this limiter.
    pub fn with_limiter(name: impl Into<Arc<str>>, limiter: impl RateLimiter<T>) -> Self {
        let builder = WorkQueue::builder(name).rate_limiter(limiter);
        builder.build().into()
    }

    /// Puts the key in line after as long as the limiter says: call it after a failure, before
    /// the ticket is dropped. See [`WorkQueue::add_rate_limited`].
    pub fn add_rate_limited(&self, item: T) {
        self.whole().add_rate_limited(item);
    }

    /// Tells the limiter that the key is fine now. A delay that the key has stays. See
    /// [`WorkQueue::forget`].
    pub fn forget(&self, item: &T) {
        self.whole().forget(item);
    }

    /// How often the key was added rate-limited since it was last forgotten.
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.whole().num_requeues(item)
    }
}

impl<T> Deref for RateLimitingQueue<T> {
    type Target = DelayingQueue<T>;

    fn deref(&self) -> &DelayingQueue<T> {
        &self.delaying
    }
}

impl<T> From<WorkQueue<T>> for RateLimitingQueue<T> {
    fn from(queue: WorkQueue<T>) -> Self {
        Self {
            delaying: queue.into(),
        }
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> From<RateLimitingQueue<T>> for WorkQueue<T> {
    fn from(view: RateLimitingQueue<T>) -> Self {
        view.whole().clone()
    }
}

impl<T> Clone for RateLimitingQueue<T> {
    fn clone(&self) -> Self {
        Self {
            delaying: self.delaying.clone(),
        }
    }
}

impl<T> fmt::Debug for RateLimitingQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RateLimitingQueue")
            .field(&self.delaying)
            .finish()
    }
}
