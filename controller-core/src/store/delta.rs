use std::sync::Arc;

use crate::client::ObjectKey;
use crate::watch::Object;

/// One change of the cache, as handlers see it.
///
/// It is about the *cache*, not about what the server called the change: an object that is
/// known already and arrives as `ADDED` after a reconnect is an `Updated`, or nothing.
///
/// A clone copies pointers. The objects are those of the cache itself.
#[derive(Debug)]
pub enum Delta<T> {
    /// A key that was not in the cache, or came back with another uid.
    Added {
        /// The object.
        new: Arc<T>,
        /// Whether it came with the first list: nothing happened to it just now.
        initial: bool,
    },
    /// The same object, another content. Compare the two to enqueue less: a change of
    /// status alone leaves `metadata.generation` as it was.
    Updated {
        /// What the cache held until now, or, to a handler that was behind, what that
        /// handler saw last.
        old: Arc<T>,
        /// What it holds from now on.
        new: Arc<T>,
    },
    /// The resync interval went by; the object is as it was.
    Resynced {
        /// The object.
        object: Arc<T>,
    },
    /// The object is no longer in the cache.
    Deleted(Deleted<T>),
}

/// How the cache learned that an object is gone.
///
/// client-go hands a handler either the object or a `DeletedFinalStateUnknown` around it, as
/// an `interface{}`. The type assertion that forgets the second case panics on the day when
/// a watch breaks at the wrong moment. Here the compiler asks for both, or
/// [`last_known`](Self::last_known) answers for both:
///
/// ```
/// use controller_core::store::Deleted;
///
/// fn describe(deleted: &Deleted<u32>) -> String {
///     match deleted {
///         Deleted::Observed(last) => format!("ended at {last}"),
///         Deleted::FinalStateUnknown(stone) => format!("last seen at {}", stone.last_known),
///     }
/// }
/// assert_eq!(describe(&Deleted::Observed(7.into())), "ended at 7");
/// ```
#[derive(Debug)]
pub enum Deleted<T> {
    /// The watch said so, and this is the object's last state. With a selector it may
    /// live on outside of it.
    Observed(Arc<T>),
    /// It vanished while no watch was open, so its end was not seen.
    FinalStateUnknown(Tombstone<T>),
}

/// What is left of an object whose deletion nobody saw.
///
/// The object vanished in a gap: the watch was broken, the versions expired, and the list
/// that followed no longer had it. What happened to it in the gap is not known, not even
/// that this very object was still there until the end.
///
/// The dangerous mistake is to read `last_known` as its final state. Use it to find out what
/// the object was *about*, an owner, a node, a target. Do not compute from it what is to be
/// given back, such as a size or a count: whoever needs that needs a finalizer, which keeps
/// the object until the work is done.
#[derive(Debug)]
pub struct Tombstone<T> {
    /// Its key.
    pub key: ObjectKey,
    /// What the cache held last; the object may have changed before it went.
    pub last_known: Arc<T>,
}

// === impl Delta ===

impl<T: Object> Delta<T> {
    /// The key of the object that changed.
    pub fn key(&self) -> ObjectKey {
        self.object().key()
    }
}

impl<T> Delta<T> {
    /// The newest copy at hand: the new one, or the last known of a deleted object.
    pub fn object(&self) -> &Arc<T> {
        match self {
            Self::Added { new, .. } | Self::Updated { new, .. } => new,
            Self::Resynced { object } => object,
            Self::Deleted(deleted) => deleted.last_known(),
        }
    }

    /// Whether nothing happened to the object just now: the first list or a resync.
    pub fn is_background(&self) -> bool {
        matches!(
            self,
            Self::Added { initial: true, .. } | Self::Resynced { .. }
        )
    }
}

impl<T> Clone for Delta<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { new, initial } => Self::Added {
                new: Arc::clone(new),
                initial: *initial,
            },
            Self::Updated { old, new } => Self::Updated {
                old: Arc::clone(old),
                new: Arc::clone(new),
            },
            Self::Resynced { object } => Self::Resynced {
                object: Arc::clone(object),
            },
            Self::Deleted(deleted) => Self::Deleted(deleted.clone()),
        }
    }
}

// === impl Deleted ===

impl<T> Deleted<T> {
    /// The last state that was seen.
    pub fn last_known(&self) -> &Arc<T> {
        match self {
            Self::Observed(object) => object,
            Self::FinalStateUnknown(tombstone) => &tombstone.last_known,
        }
    }
}

impl<T> Clone for Deleted<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Observed(object) => Self::Observed(Arc::clone(object)),
            Self::FinalStateUnknown(tombstone) => Self::FinalStateUnknown(Tombstone {
                key: tombstone.key.clone(),
                last_known: Arc::clone(&tombstone.last_known),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::Widget;

    fn object(name: &str) -> Arc<Widget> {
        Arc::new(Widget::new(name, "1"))
    }

    /// FF-25, CT-07: client-go also has a tombstone without an object; here that is no value.
    #[test]
    fn every_shape_of_a_change_has_its_objects_key() {
        let tombstone = Deleted::FinalStateUnknown(Tombstone {
            key: object("c").key(),
            last_known: object("c"),
        });
        let shapes = [
            Delta::Added {
                new: object("a"),
                initial: false,
            },
            Delta::Deleted(Deleted::Observed(object("b"))),
            Delta::Deleted(tombstone.clone()),
            Delta::Updated {
                old: object("d"),
                new: object("d"),
            },
            Delta::Resynced {
                object: object("e"),
            },
        ];
        let keys: Vec<_> = shapes.iter().map(|shape| shape.key().to_string()).collect();
        assert_eq!(keys, ["shop/a", "shop/b", "shop/c", "shop/d", "shop/e"]);
        let Deleted::FinalStateUnknown(stone) = &tombstone else {
            panic!("{tombstone:?}")
        };
        assert_eq!(stone.key, tombstone.last_known().key());
    }
}
