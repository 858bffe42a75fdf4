use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::clock::Took;
use super::get::Get;
use super::shared::Shared;
use super::state::Taken;
use super::work::WorkId;
use crate::handler::Band;

/// The right to work on one key, which nobody else has meanwhile.
///
/// Derefs to the key. Dropping it says that the work is done, also when a panic drops
/// it: client-go's `Done`, which here can be neither forgotten nor called twice. A key
/// that was added meanwhile goes back in line then.
///
/// What is to become of the key is said before the drop, while the ticket still keeps
/// other workers off it:
///
/// ```
/// use controller_core::queue::WorkQueue;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let queue = WorkQueue::new("deployments");
/// # queue.add("shop/web");
/// let ticket = queue.get().await.expect("the queue is open");
/// let worked = false; // the work on *ticket goes here
/// if worked {
///     queue.forget(&ticket);
/// } else {
///     queue.add_rate_limited(*ticket);
/// }
/// drop(ticket);
/// assert_eq!(queue.num_requeues(&"shop/web"), 1);
/// # }
/// ```
///
/// The dangerous mistake is to drop it before the work is done: another worker may be
/// given the same key at once. `let _ = queue.get().await` does that on the spot.
#[must_use = "dropping a ticket says that the work on its key is done"]
pub struct Ticket<T> {
    /// `None` once [`next`](Self::next) has taken over.
    shared: Option<Arc<Shared<T>>>,
    work: WorkId,
    band: Band,
    queued_for: Took,
    /// The drop puts the key back in line.
    comes_back: bool,
    /// `None` as above.
    item: Option<T>,
}

const TAKEN: &str = "invariant: only `next` takes it, and the ticket with it";

// === impl Ticket ===

impl<T> Ticket<T> {
    /// `shared` is there. To look would be a place that can panic, for which the compiler would
    /// have to keep the key in memory.
    #[inline]
    pub(super) fn new(shared: Option<Arc<Shared<T>>>, taken: Taken<T>) -> Self {
        let Taken {
            work,
            item,
            band,
            queued_for,
        } = taken;
        Self {
            shared,
            work,
            band,
            queued_for,
            comes_back: false,
            item: Some(item),
        }
    }

    /// Until [`settled`](Self::settled) a drop does not say that the work is done: it puts the
    /// key back in line, for whoever serves the queue next.
    pub(crate) fn hold(&mut self) {
        self.comes_back = true;
    }

    /// What is to become of the key has been said.
    pub(crate) fn settled(&mut self) {
        self.comes_back = false;
    }

    /// Settles the key: it is to come back after `delay` at the latest. For a key that cannot be
    /// cloned or hashed any more, since nothing of it is needed.
    pub(crate) fn come_back_after(&mut self, delay: Duration) {
        self.comes_back = false;
        if let Some(shared) = &self.shared {
            shared.update(|inner, clock| inner.state.again(self.work, delay, clock));
        }
    }

    /// The band from which the key was served. A retry goes back to it.
    pub fn band(&self) -> Band {
        self.band
    }

    /// How long the key waited for a worker: since the add that put it in line, or since its
    /// delay was over. `None` unless the queue takes
    /// [timestamps](super::Builder::timestamps).
    pub fn queued_for(&self) -> Option<Duration> {
        self.queued_for.duration()
    }

    /// Says that the work is done and waits for the next key: the same as a drop and then
    /// [`get`](super::WorkQueue::get), but in one passage through the lock of the queue.
    ///
    /// The work is done when the future is first polled, or dropped. The dangerous mistake is
    /// to do neither for long: nobody else is given the key meanwhile.
    ///
    /// ```
    /// use controller_core::queue::WorkQueue;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let queue = WorkQueue::new("deployments");
    /// queue.add("shop/web");
    /// queue.add("shop/cart");
    /// queue.shut_down();
    ///
    /// let mut served = Vec::new();
    /// let mut next = queue.get();
    /// while let Some(ticket) = next.await {
    ///     served.push(*ticket); // the work goes here
    ///     next = ticket.next();
    /// }
    /// assert_eq!(served, ["shop/web", "shop/cart"]);
    /// # }
    /// ```
    #[inline]
    pub fn next(mut self) -> Get<T> {
        Get::after(self.shared.take(), self.work, self.item.take())
    }
}

impl<T> Deref for Ticket<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.item.as_ref().expect(TAKEN)
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        if let Some((shared, item)) = self.shared.take().zip(self.item.take()) {
            drop(shared.update(|inner, clock| {
                if self.comes_back {
                    inner.state.again(self.work, Duration::ZERO, clock);
                }
                inner.state.done(self.work, item, clock)
            }));
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Ticket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("item", &**self)
            .field("band", &self.band)
            .finish()
    }
}
