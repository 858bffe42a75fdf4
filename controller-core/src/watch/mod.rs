//! HTTP → [`WatchEvent`].
//!
//! A [`Reflector`] lists a kind, then watches it, and never stops. It recovers from
//! everything but a bug, and it never goes back in time. client-go calls it
//! `cache.Reflector`.
//!
//! # Why a list and a watch
//!
//! A watch alone tells what changes, not what is there. A list alone is out of date when it
//! arrives, and repeated often it is what brings API servers down. Together they are exact:
//! every list has a `resourceVersion`, a watch that starts from that version brings every
//! later change in order, and each change carries the version from which a broken watch can
//! be resumed. A new list is needed only when the server no longer remembers that version
//! (about five minutes of history, by default).
//!
//! # What is asked
//!
//! | request | `resourceVersion` | `limit` |
//! |---|---|---|
//! | first list | `0`: any version, from the server's watch cache | 500 |
//! | later list | the last one that was seen, or newer | none: the cache answers in one piece |
//! | list after "I do not have that version" | none: what etcd holds now | 500 |
//! | next page | that of the continue token | as its first page |
//! | watch | the last one that was seen | – |
//! | [`list_once`] | none | 500 |
//!
//! That is client-go's table, and API servers are tuned to it. `0` is cheap for the server,
//! and means that a freshly started API server that lags may answer with an old state. For
//! a controller that watches on this is no harm. For a single pass it is, so that
//! [`list_once`] asks etcd.
//!
//! # What can go wrong, and what happens then
//!
//! | it happens | what is done |
//! |---|---|
//! | a list fails | it is asked for again, after a wait |
//! | a list is older than what was seen | refused as [`ListError::Stale`]: another API server lags |
//! | a line of a watch is older than what was seen | the same, and a new list after a wait finds out why |
//! | the answer to a list that named no version is older | taken: the server was restored from a backup |
//! | a later page has expired | one list in one piece, from the start |
//! | a watch ends after a second or more | opened again at once, where it ended |
//! | a watch ends at once and without news | opened again after a wait |
//! | 410, as status or as a line | a new list; after a wait if the watch had brought nothing |
//! | 401, 403, 429, 5xx or no connection | the watch is opened again after a wait |
//! | another refusal, 404 for example | a new list after a wait |
//! | silence for 150 s where bookmarks were seen | given up: the connection is dead |
//! | silence for longer than the server lets a watch live, and 30 s | the same |
//! | an object that cannot be read | [`WatchEvent::Unreadable`], and on with the next |
//! | a line over 16 MiB | the same; it is skipped without being kept |
//! | a line that hides which object it is about | the same, and a new list when this watch ends |
//!
//! A wait is drawn evenly between a floor and twice the floor; the floor doubles from 0.8 to
//! 15 s. It starts over only after a *healthy* time, which is a line that moved the version
//! on, or a minute of an open watch: a server that is down for an hour sees no ramp of quick
//! retries every few minutes, as it does from client-go, whose backoff starts over by the
//! clock.
//!
//! # Promises
//!
//! - Events come in the order of the server's history, through one task, to one sink.
//! - Between a [`ListDone`](WatchEvent::ListDone) and the next
//!   [`ListStarted`](WatchEvent::ListStarted) no change is left out.
//! - No version is taken back, except by a list that says `restored`.
//! - It ends when it is told to and never by itself.
//!
//! **Not promised:** that an event arrives at any particular time, that each state of an
//! object is seen, or that a kind for which there is no permission is ever listed. See
//! [`ReflectorStatus`] for how to notice.
//!
//! # Costs
//!
//! One request at a time, so one connection. No task: [`Reflector::run`] is a future. The
//! memory of one page while it is read, its bytes and its objects; where the server answers
//! in one piece, that page is the whole list. One line of a watch, up to 16 MiB.
//!
//! # Testing against it
//!
//! A closure is an [`EventSink`], and [`client::layered`](crate::client::layered) makes a
//! client of any tower service: see the example at [`Reflector`].
mod backoff;
mod codec;
mod event;
mod follow;
mod items;
mod json;
mod lines;
mod list;
mod list_error;
mod object;
mod options;
mod page;
mod pulse;
mod reflector;
mod resource_version;
mod selector;
mod server_memory;
mod span;
mod status;
mod streaming;
#[cfg(test)]
pub(crate) mod testing;

pub use event::{EventSink, News, Unreadable, WatchEvent};
pub use list::list_once;
pub use list_error::ListError;
pub use object::{KeptLabels, Object};
pub use options::{Streaming, WatchOptions};
pub use reflector::Reflector;
pub use resource_version::compare_resource_versions;
pub(crate) use resource_version::{advances, is_older};
pub use selector::{LabelSelector, SelectorError};
pub(crate) use selector::{is_qualified, is_subdomain};
pub use server_memory::ServerMemory;
pub use status::{ReflectorStatus, State};
