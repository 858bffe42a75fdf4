use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::EventHandler;
use crate::store::Deleted;

/// Shows `handler` only the objects that pass a filter, as client-go's
/// `FilteringResourceEventHandler`.
///
/// An object that comes to pass is an add, one that no longer passes is a delete:
///
/// | event | old passes | new passes | the handler hears |
/// |---|---|---|---|
/// | add, resync | | yes | the same |
/// | add, resync | | no | nothing |
/// | update | yes | yes | update |
/// | update | no | yes | add, not initial |
/// | update | yes | no | delete of the old object, as observed |
/// | update | no | no | nothing |
/// | delete | yes | | the same, a tombstone included |
/// | delete | no | | nothing |
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicI32, Ordering};
/// use controller_core::handler::{EventHandler, FilteringHandler, HandlerFuncs};
///
/// let large = Arc::new(AtomicI32::new(0));
/// let (more, fewer) = (Arc::clone(&large), Arc::clone(&large));
/// let counter = HandlerFuncs::<i32>::new()
///     .on_add(move |_, _| { more.fetch_add(1, Ordering::Relaxed); })
///     .on_delete(move |_| { fewer.fetch_sub(1, Ordering::Relaxed); });
/// let handler = FilteringHandler::new(|size: &i32| *size > 10, counter);
///
/// handler.on_add(&Arc::new(5), false);
/// assert_eq!(large.load(Ordering::Relaxed), 0);
/// handler.on_update(&Arc::new(5), &Arc::new(50)); // comes in: an add
/// assert_eq!(large.load(Ordering::Relaxed), 1);
/// handler.on_update(&Arc::new(50), &Arc::new(7)); // goes out: a delete
/// assert_eq!(large.load(Ordering::Relaxed), 0);
/// ```
///
/// Filter on the server where that is possible, with
/// [`WatchOptions`](crate::watch::WatchOptions): what never arrives costs nothing. This
/// filter saves no memory, for the cache holds everything. It is for what no selector can
/// say, and for two handlers that share a cache and want different parts of it.
///
/// The dangerous mistake is a filter that depends on more than the object, a clock or a
/// list of names: the old object is judged anew at each event, so that an object may go out
/// without ever having come in, or come in twice.
pub struct FilteringHandler<F, H> {
    filter: F,
    handler: H,
}

// === impl FilteringHandler ===

impl<F, H> FilteringHandler<F, H> {
    /// Wraps `handler`; `filter` says which objects it hears of.
    pub fn new(filter: F, handler: H) -> Self {
        Self { filter, handler }
    }
}

impl<T, F, H> EventHandler<T> for FilteringHandler<F, H>
where
    T: Send + Sync + 'static,
    F: Fn(&T) -> bool + Send + Sync + 'static,
    H: EventHandler<T>,
{
    /// That of the handler inside: a filter is no reason for another name.
    fn name(&self) -> Cow<'_, str> {
        self.handler.name()
    }

    fn on_add(&self, new: &Arc<T>, initial: bool) {
        if (self.filter)(new) {
            self.handler.on_add(new, initial);
        }
    }

    fn on_update(&self, old: &Arc<T>, new: &Arc<T>) {
        match ((self.filter)(old), (self.filter)(new)) {
            (true, true) => self.handler.on_update(old, new),
            (false, true) => self.handler.on_add(new, false),
            (true, false) => self.handler.on_delete(&Deleted::Observed(Arc::clone(old))),
            (false, false) => {}
        }
    }

    fn on_resync(&self, object: &Arc<T>) {
        if (self.filter)(object) {
            self.handler.on_resync(object);
        }
    }

    fn on_delete(&self, deleted: &Deleted<T>) {
        if (self.filter)(deleted.last_known()) {
            self.handler.on_delete(deleted);
        }
    }
}

impl<F, H: fmt::Debug> fmt::Debug for FilteringHandler<F, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteringHandler")
            .field("handler", &self.handler)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::handler::{HandlerFuncs, deliver};
    use crate::store::{Delta, Tombstone};
    use crate::watch::Object;
    use crate::watch::testing::Widget;

    /// SI-26: the whole transition table.
    #[test]
    fn an_object_that_crosses_the_filter_is_an_add_or_a_delete() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let push = |word: &'static str| {
            let heard = Arc::clone(&heard);
            move |rest: String| heard.lock().push(format!("{word} {rest}"))
        };
        let (add, update, resync, delete) =
            (push("add"), push("update"), push("resync"), push("delete"));
        let handler = FilteringHandler::new(
            |widget: &Widget| widget.size() > 0,
            HandlerFuncs::new()
                .on_add(move |new: &Arc<Widget>, initial| {
                    add(format!("{} {initial}", new.resource_version()));
                })
                .on_update(move |old, new| {
                    update(format!(
                        "{} {}",
                        old.resource_version(),
                        new.resource_version()
                    ));
                })
                .on_resync(move |object| resync(object.resource_version().to_owned()))
                .on_delete(move |deleted| {
                    let observed = matches!(deleted, Deleted::Observed(_));
                    delete(format!(
                        "{} {observed}",
                        deleted.last_known().resource_version()
                    ));
                }),
        );
        let inside = || Arc::new(Widget::new("a", "1").with_size(1));
        let outside = || Arc::new(Widget::new("a", "2"));
        let tombstone = |last_known: Arc<Widget>| {
            Delta::Deleted(Deleted::FinalStateUnknown(Tombstone {
                key: last_known.key(),
                last_known,
            }))
        };
        let added = |new| Delta::Added { new, initial: true };
        let updated = |old, new| Delta::Updated { old, new };
        for delta in [
            added(inside()),
            added(outside()),
            updated(inside(), inside()),
            updated(outside(), inside()),
            updated(inside(), outside()),
            updated(outside(), outside()),
            Delta::Resynced { object: inside() },
            Delta::Resynced { object: outside() },
            Delta::Deleted(Deleted::Observed(inside())),
            Delta::Deleted(Deleted::Observed(outside())),
            tombstone(inside()),
            tombstone(outside()),
        ] {
            deliver(&handler, &delta);
        }
        assert_eq!(
            *heard.lock(),
            [
                "add 1 true",
                "update 1 1",
                "add 1 false",
                "delete 1 true",
                "resync 1",
                "delete 1 true",
                "delete 1 false",
            ]
        );
    }
}
