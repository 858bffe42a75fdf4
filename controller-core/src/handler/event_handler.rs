use std::borrow::Cow;
use std::sync::Arc;

use super::handler_name::short_type_name;
use crate::store::{Deleted, Delta};

/// Hears of every change of a cache.
///
/// Calls come one at a time, per object in the order of its changes, and after the cache
/// shows the new state. Between two handlers no order is promised.
///
/// A handler puts keys in a queue and returns: it does no I/O and decides nothing. The
/// methods are not `async` on purpose. Whoever needs to wait needs a queue, for only a queue
/// can retry, and only a queue keeps two works on one object apart.
///
/// A panic costs that one call. It is counted
/// ([`Registration::panics`](crate::informer::Registration::panics)) and logged, and the
/// handler hears of the next change as if nothing had been. In client-go it ends the process.
///
/// The dangerous mistake is to act here. An event may be merged with the next one or repeated
/// after a reconnect, so work belongs into a reconciler that looks at the cache.
///
/// ```text
/// wrong   fn on_add(&self, new, _)  { self.block_on(create_bucket(new)) }
///         a failure is forgotten, a restart does it again, every other handler's thread waits
///
/// right   fn on_add(&self, new, _)  { self.queue.add(new.key()) }
///         the reconciler asks: is there a bucket? and makes one if not
/// ```
///
/// By the time of a call the cache shows what the call tells, or something newer. So a
/// handler may look at the cache, and must not conclude from `old` and `new` what is in it.
///
/// An `Arc` of a handler is a handler too, for whoever wants to read what it has heard, or to
/// add it to two informers. Added twice it hears everything twice.
pub trait EventHandler<T>: Send + Sync + 'static {
    /// What the log calls it, and [`Registration::name`]: of use where one of several is slow,
    /// or panics. It need not be unique. Its type, if nobody says otherwise.
    ///
    /// [`Registration::name`]: crate::informer::Registration::name
    fn name(&self) -> Cow<'_, str> {
        Cow::Owned(short_type_name::<Self>())
    }

    /// The object came into the cache; `initial` if the first list brought it, or if it was
    /// there before this handler was. Nothing happened to it just now then.
    fn on_add(&self, new: &Arc<T>, initial: bool);

    /// The object changed: the same uid, another version. The two need not be neighbours;
    /// what was between them may have been skipped.
    fn on_update(&self, old: &Arc<T>, new: &Arc<T>);

    /// The resync interval went by and the object is as it was. Only handlers that were
    /// added with an interval hear this.
    fn on_resync(&self, object: &Arc<T>);

    /// The object left the cache. With a selector it may live on.
    fn on_delete(&self, deleted: &Deleted<T>);
}

/// Calls the method of `handler` that `delta` belongs to.
pub(crate) fn deliver<T>(handler: &(impl EventHandler<T> + ?Sized), delta: &Delta<T>) {
    match delta {
        Delta::Added { new, initial } => handler.on_add(new, *initial),
        Delta::Updated { old, new } => handler.on_update(old, new),
        Delta::Resynced { object } => handler.on_resync(object),
        Delta::Deleted(deleted) => handler.on_delete(deleted),
    }
}

// === impl EventHandler ===

impl<T, H> EventHandler<T> for Arc<H>
where
    T: Send + Sync + 'static,
    H: EventHandler<T> + ?Sized,
{
    fn name(&self) -> Cow<'_, str> {
        (**self).name()
    }

    fn on_add(&self, new: &Arc<T>, initial: bool) {
        (**self).on_add(new, initial);
    }

    fn on_update(&self, old: &Arc<T>, new: &Arc<T>) {
        (**self).on_update(old, new);
    }

    fn on_resync(&self, object: &Arc<T>) {
        (**self).on_resync(object);
    }

    fn on_delete(&self, deleted: &Deleted<T>) {
        (**self).on_delete(deleted);
    }
}
