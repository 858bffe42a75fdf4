use crate::client::ObjectKey;

/// What the reflector tells the cache, in the order in which it happened.
///
/// The grammar of the sequence:
///
/// ```text
/// sequence = { list { change } }
/// list     = ListStarted { Listed | Deleted | Unreadable } [ ListDone ]
/// change   = Added | Modified | Deleted | Bookmark | Unreadable
/// ```
///
/// A list is [`ListStarted`](WatchEvent::ListStarted), then its items, then
/// [`ListDone`](WatchEvent::ListDone). A list that fails half-way is followed by another
/// `ListStarted`: whoever collects items must forget those of the first attempt, or
/// objects that vanished between the two come back to life.
///
/// A list that is streamed by a watch may take back what it told: there an object that goes
/// while the list is under way is first `Listed`, then `Deleted`.
///
/// `Added` and `Modified` are what the server called the change, which is seldom what a
/// reader wants to know: after a reconnect an object that is long known may be `Added`
/// again. Whether it is new *to the cache* is decided one stage on, in
/// [`Delta`](crate::store::Delta). Nothing but a [`CacheWriter`](crate::store::CacheWriter)
/// should need this enum.
#[derive(Debug)]
pub enum WatchEvent<T> {
    /// A list begins. What an earlier, unfinished list brought is void.
    ListStarted {
        /// The server was asked for the state that it has now, whatever was seen before, so
        /// that the answer may turn out to be [`restored`](WatchEvent::ListDone::restored).
        /// Until that is known, a version that was seen before may mean another state, and
        /// no object may be taken for known by its version.
        fresh: bool,
    },
    /// One object of the list.
    Listed(T),
    /// The list is complete: what it did not bring is gone.
    ListDone {
        /// The version that the list as a whole has.
        resource_version: String,
        /// Whether the server's history started anew (an etcd that was restored from a
        /// backup). Versions below those seen before are then right. Only a list that
        /// started `fresh` can be.
        restored: bool,
    },
    /// The object came into being, or into the selector.
    Added(T),
    /// The object changed.
    Modified(T),
    /// The object is gone, or left the selector; this is its last state. Its version is that
    /// of the deletion, above every version that the object had.
    Deleted(T),
    /// Nothing happened up to this version. A server sends one about every minute, so that
    /// a watch of a quiet kind can be resumed at a version that is still remembered, and so
    /// that silence means something: see the idle deadline in the [module's](super) table.
    Bookmark {
        /// Where a later watch may resume.
        resource_version: String,
    },
    /// Something arrived that could not be read; it stops nothing.
    Unreadable(Unreadable),
}

/// An item of a list or a watch that the kind's type could not be read from.
///
/// One bad object must not blind a controller to ten thousand good ones, and it must not be
/// taken for deleted either: there is an object, only nobody knows what it says. So the last
/// readable copy stays in the cache and is marked
/// ([`Lister::is_outdated`](crate::store::Lister::is_outdated)).
///
/// It happens where a custom resource was stored before its schema became strict, where a
/// projection requires what the API does not, and behind proxies that cut answers short.
#[derive(Debug)]
pub struct Unreadable {
    /// The object's key, where at least its metadata could be read.
    pub key: Option<ObjectKey>,
    /// The object's resource version, where its metadata could be read.
    pub resource_version: Option<String>,
    /// What kind of news it was.
    pub during: News,
    /// Why it could not be read. Never a part of the object: that may hold secrets.
    pub error: String,
}

/// What a list item or a watch line announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// An item of a list.
    Listed,
    /// The object was added or changed.
    Changed,
    /// The object is gone: its key is enough to act on.
    Deleted,
    /// Not even that much could be read.
    Unknown,
}

/// Where the reflector's events go: the cache's writer.
///
/// Every `FnMut(WatchEvent<T>) + Send` is one.
///
/// `accept` must not block. It is called from one task only, in order, and nothing is read
/// from the connection before it returns: a sink that takes its time makes the server's
/// buffer for this watch fill up, and a server ends a watch whose buffer is full.
pub trait EventSink<T>: Send {
    /// Takes the next event.
    fn accept(&mut self, event: WatchEvent<T>);
}

// === impl EventSink ===

impl<T, F: FnMut(WatchEvent<T>) + Send> EventSink<T> for F {
    fn accept(&mut self, event: WatchEvent<T>) {
        self(event);
    }
}
