use std::fmt;
use std::sync::Arc;

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
pub trait EventHandler<T>: Send + Sync + 'static {
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

/// Handlers made of closures, as client-go's `ResourceEventHandlerFuncs`: what is not
/// given is not heard.
///
/// For logs, counters and tests. A controller wants
/// [`EnqueueHandler`](super::EnqueueHandler), which cannot forget one of the four.
///
/// ```
/// use controller_core::handler::HandlerFuncs;
/// # use controller_core::watch::Object;
/// # fn example<T: Object>() {
/// let handler = HandlerFuncs::<T>::new()
///     .on_add(|new, initial| println!("{} (initial: {initial})", new.key()))
///     .on_delete(|deleted| println!("{} is gone", deleted.last_known().key()));
/// # }
/// ```
pub struct HandlerFuncs<T> {
    add: Option<AddFunc<T>>,
    update: Option<UpdateFunc<T>>,
    resync: Option<ResyncFunc<T>>,
    delete: Option<DeleteFunc<T>>,
}

type AddFunc<T> = Box<dyn Fn(&Arc<T>, bool) + Send + Sync>;
type UpdateFunc<T> = Box<dyn Fn(&Arc<T>, &Arc<T>) + Send + Sync>;
type ResyncFunc<T> = Box<dyn Fn(&Arc<T>) + Send + Sync>;
type DeleteFunc<T> = Box<dyn Fn(&Deleted<T>) + Send + Sync>;

/// Calls the method of `handler` that `delta` belongs to.
pub(crate) fn deliver<T>(handler: &(impl EventHandler<T> + ?Sized), delta: &Delta<T>) {
    match delta {
        Delta::Added { new, initial } => handler.on_add(new, *initial),
        Delta::Updated { old, new } => handler.on_update(old, new),
        Delta::Resynced { object } => handler.on_resync(object),
        Delta::Deleted(deleted) => handler.on_delete(deleted),
    }
}

// === impl HandlerFuncs ===

impl<T> HandlerFuncs<T> {
    /// Hears nothing yet.
    pub fn new() -> Self {
        Self {
            add: None,
            update: None,
            resync: None,
            delete: None,
        }
    }

    /// Calls `function` for each object that comes into the cache.
    #[must_use]
    pub fn on_add(mut self, function: impl Fn(&Arc<T>, bool) + Send + Sync + 'static) -> Self {
        self.add = Some(Box::new(function));
        self
    }

    /// Calls `function` with the old and the new object.
    #[must_use]
    pub fn on_update(
        mut self,
        function: impl Fn(&Arc<T>, &Arc<T>) + Send + Sync + 'static,
    ) -> Self {
        self.update = Some(Box::new(function));
        self
    }

    /// Calls `function` for each object when the resync interval has gone by.
    #[must_use]
    pub fn on_resync(mut self, function: impl Fn(&Arc<T>) + Send + Sync + 'static) -> Self {
        self.resync = Some(Box::new(function));
        self
    }

    /// Calls `function` for each object that leaves the cache.
    #[must_use]
    pub fn on_delete(mut self, function: impl Fn(&Deleted<T>) + Send + Sync + 'static) -> Self {
        self.delete = Some(Box::new(function));
        self
    }
}

impl<T> Default for HandlerFuncs<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for HandlerFuncs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerFuncs")
            .field("add", &self.add.is_some())
            .field("update", &self.update.is_some())
            .field("resync", &self.resync.is_some())
            .field("delete", &self.delete.is_some())
            .finish()
    }
}

impl<T: 'static> EventHandler<T> for HandlerFuncs<T> {
    fn on_add(&self, new: &Arc<T>, initial: bool) {
        if let Some(function) = &self.add {
            function(new, initial);
        }
    }

    fn on_update(&self, old: &Arc<T>, new: &Arc<T>) {
        if let Some(function) = &self.update {
            function(old, new);
        }
    }

    fn on_resync(&self, object: &Arc<T>) {
        if let Some(function) = &self.resync {
            function(object);
        }
    }

    fn on_delete(&self, deleted: &Deleted<T>) {
        if let Some(function) = &self.delete {
            function(deleted);
        }
    }
}
