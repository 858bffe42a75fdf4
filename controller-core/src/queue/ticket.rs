use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::entries::Id;
use super::shared::Shared;
use super::state::Taken;
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
    shared: Arc<Shared<T>>,
    id: Id,
    item: T,
    band: Band,
}

// === impl Ticket ===

impl<T> Ticket<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, taken: Taken<T>) -> Self {
        let Taken { id, item, band } = taken;
        Self {
            shared,
            id,
            item,
            band,
        }
    }

    /// The band from which the key was served. A retry goes back to it.
    pub fn band(&self) -> Band {
        self.band
    }
}

impl<T> Deref for Ticket<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.item
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        self.shared
            .update(|inner, now| inner.state.done(self.id, now));
    }
}

impl<T: fmt::Debug> fmt::Debug for Ticket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("item", &self.item)
            .field("band", &self.band)
            .finish()
    }
}
