use crate::client::ObjectKey;

/// What the reflector tells the cache, in the order in which it happened.
///
/// A list is [`ListStarted`](WatchEvent::ListStarted), then its items, then
/// [`ListDone`](WatchEvent::ListDone). A list that fails half-way is followed by another
/// `ListStarted`: whoever collects items must forget those of the first attempt, or
/// objects that vanished between the two come back to life.
#[derive(Debug)]
pub enum WatchEvent<T> {
    /// A list begins. What an earlier, unfinished list brought is void.
    ListStarted,
    /// One object of the list.
    Listed(T),
    /// The list is complete: what it did not bring is gone.
    ListDone {
        /// The version that the list as a whole has.
        resource_version: String,
        /// Whether the server's history started anew (an etcd that was restored from a
        /// backup): versions below those seen before are then right.
        restored: bool,
    },
    /// The object came into being, or into the selector.
    Added(T),
    /// The object changed.
    Modified(T),
    /// The object is gone, or left the selector; this is its last state.
    Deleted(T),
    /// Nothing happened up to this version.
    Bookmark {
        /// Where a later watch may resume.
        resource_version: String,
    },
    /// Something arrived that could not be read; it stops nothing.
    Unreadable(Unreadable),
}

/// An item of a list or a watch that the kind's type could not be read from.
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
/// `accept` must not block. It is called from one task only, in order.
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
