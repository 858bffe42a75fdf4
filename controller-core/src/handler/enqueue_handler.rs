use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::handler_name::made_at;
use super::{Band, Enqueue, EventHandler};
use crate::store::{Deleted, Delta};

/// The handler that nearly every controller wants: each change of an object puts the
/// keys that `map` finds for it into a queue.
///
/// `map` sees the whole [`Delta`], so that for an update it may name what the old object
/// pointed to as well as what the new one does. What the first list and resyncs bring
/// goes to the background band.
///
/// The plain case, each object its own key:
///
/// ```
/// use std::sync::Arc;
/// use controller_core::handler::{Enqueue, EnqueueHandler};
/// use controller_core::store::Delta;
/// # use controller_core::{client::ObjectKey, watch::Object};
/// # fn example<T: Object>(queue: Arc<dyn Enqueue<ObjectKey>>) {
/// let handler = EnqueueHandler::new(queue, |delta: &Delta<T>| vec![delta.key()]);
/// # }
/// ```
///
/// `map` is pure and quick; it may read a [`Lister`](crate::store::Lister), and may return
/// nothing for what nobody wants to look at. To enqueue a key for every change of a status
/// that changes every few seconds is the most common way to keep a controller busy with
/// nothing.
///
/// The dangerous mistake is to look only at the new object where it points to another:
///
/// ```
/// use std::sync::Arc;
/// use controller_core::handler::{EnqueueHandler, EventHandler};
/// use controller_core::queue::WorkQueue;
/// use controller_core::store::Delta;
///
/// struct Route { service: &'static str }
///
/// # fn main() {
/// let (careless, careful) = (WorkQueue::new("careless"), WorkQueue::new("careful"));
/// // Wrong: the service that the route has left is never told.
/// let wrong = EnqueueHandler::new(
///     Arc::new(careless.clone()),
///     |delta: &Delta<Route>| vec![delta.object().service],
/// );
/// // Right: both ends of the change want a look.
/// let right = EnqueueHandler::new(
///     Arc::new(careful.clone()),
///     |delta: &Delta<Route>| match delta {
///         Delta::Updated { old, new } => vec![old.service, new.service],
///         other => vec![other.object().service],
///     },
/// );
/// let (old, new) = (Arc::new(Route { service: "v1" }), Arc::new(Route { service: "v2" }));
/// wrong.on_update(&old, &new);
/// right.on_update(&old, &new);
/// assert_eq!((careless.len(), careful.len()), (1, 2));
/// # }
/// ```
pub struct EnqueueHandler<K, M> {
    name: Cow<'static, str>,
    queue: Arc<dyn Enqueue<K>>,
    map: M,
}

// === impl EnqueueHandler ===

impl<K: 'static, M> EnqueueHandler<K, M> {
    /// Puts what `map` returns into `queue`. A key that `map` returns twice is enqueued
    /// twice, which a queue takes for once.
    ///
    /// The closure's argument has to name its type, `|delta: &Delta<Pod>|`: it is what tells
    /// of which kind this handler hears. The handler is named after the line that this
    /// stands on.
    #[track_caller]
    pub fn new(queue: Arc<dyn Enqueue<K>>, map: M) -> Self {
        Self {
            name: made_at("EnqueueHandler"),
            queue,
            map,
        }
    }

    /// Calls it `name` in the log.
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    fn enqueue<T>(&self, delta: &Delta<T>)
    where
        M: Fn(&Delta<T>) -> Vec<K>,
    {
        let band = if delta.is_background() {
            Band::Background
        } else {
            Band::Live
        };
        for key in (self.map)(delta) {
            self.queue.enqueue(key, band);
        }
    }
}

impl<T, K, M> EventHandler<T> for EnqueueHandler<K, M>
where
    T: Send + Sync + 'static,
    K: 'static,
    M: Fn(&Delta<T>) -> Vec<K> + Send + Sync + 'static,
{
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn on_add(&self, new: &Arc<T>, initial: bool) {
        let new = Arc::clone(new);
        self.enqueue(&Delta::Added { new, initial });
    }

    fn on_update(&self, old: &Arc<T>, new: &Arc<T>) {
        let (old, new) = (Arc::clone(old), Arc::clone(new));
        self.enqueue(&Delta::Updated { old, new });
    }

    fn on_resync(&self, object: &Arc<T>) {
        let object = Arc::clone(object);
        self.enqueue(&Delta::Resynced { object });
    }

    fn on_delete(&self, deleted: &Deleted<T>) {
        self.enqueue(&Delta::Deleted(deleted.clone()));
    }
}

impl<K, M> fmt::Debug for EnqueueHandler<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnqueueHandler")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::client::ObjectKey;
    use crate::handler::deliver;
    use crate::watch::testing::Widget;

    #[derive(Default)]
    struct Line(Mutex<Vec<(String, Band)>>);

    impl Enqueue<ObjectKey> for Line {
        fn enqueue(&self, key: ObjectKey, band: Band) {
            self.0.lock().push((key.name().to_owned(), band));
        }
    }

    #[test]
    fn only_what_the_first_list_and_a_resync_bring_is_background() {
        let line = Arc::new(Line::default());
        let queue: Arc<dyn Enqueue<ObjectKey>> = Arc::clone(&line) as _;
        let handler = EnqueueHandler::new(queue, |delta: &Delta<Widget>| vec![delta.key()]);
        let object = |name| Arc::new(Widget::new(name, "1"));
        let added = |name, initial| Delta::Added {
            new: object(name),
            initial,
        };
        for delta in [
            added("listed", true),
            added("created", false),
            Delta::Updated {
                old: object("changed"),
                new: object("changed"),
            },
            Delta::Resynced {
                object: object("resynced"),
            },
            Delta::Deleted(Deleted::Observed(object("deleted"))),
        ] {
            deliver(&handler, &delta);
        }
        let heard = line.0.lock();
        let heard: Vec<_> = heard.iter().map(|(name, band)| (&**name, *band)).collect();
        assert_eq!(
            heard,
            [
                ("listed", Band::Background),
                ("created", Band::Live),
                ("changed", Band::Live),
                ("resynced", Band::Background),
                ("deleted", Band::Live),
            ]
        );
    }
}
