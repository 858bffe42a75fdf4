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
//! | list as the beginning of a watch | none at first: as new as etcd; later the last one that was seen, or newer | – |
//! | where that is not to be had, first list | `0`: any version, from the server's watch cache | 500 |
//! | the same with [`FirstList::MostRecent`] | none: what etcd holds now | 500 |
//! | later list | the last one that was seen, or newer | none: the cache answers in one piece |
//! | list after "I do not have that version" | none: what etcd holds now | 500 |
//! | next page | that of the continue token | as its first page |
//! | watch | the last one that was seen | – |
//! | [`list_once`] | none | 500 |
//!
//! That is client-go's table, and API servers are tuned to it. `0` is cheap for the server,
//! and means that a freshly started API server that lags may answer with an old state. For
//! a controller that watches on this is no harm. For a single pass it is, so that
//! [`list_once`] asks etcd; and for what forbids something, so that it can be asked for
//! ([`FirstList`]).
//!
//! # Streaming lists
//!
//! A list as the beginning of a watch (`sendInitialEvents`) ends with a bookmark that says so,
//! and the same watch goes on. The sink is told the same as of any list. Whether a server
//! does that is found out by asking, and remembered in a [`ServerMemory`]:
//!
//! | the server | what is done |
//! |---|---|
//! | refuses the parameter: 400, 405, 406, 415, 422, 501 | a paged list at once, and for good |
//! | refuses for another reason: 403, 404, 500 | a paged list at once, this time |
//! | asks for patience: 429, `Retry-After` | the same request, after a wait |
//! | cannot be reached | the same |
//! | ends the stream early, or a gateway in between answers | the same once; the second time a paged list |
//! | does not answer in time, or a gateway says so (504) | a paged list at once |
//! | brings no key that is new to the list for 10 s | the same |
//! | does not have the version (410, "too large") | at once without one |
//!
//! Where nothing came in time, and after two streams that broke, it is the paged list that
//! decides: if it comes, the server is well, and streaming is over for this kind. If not, it
//! is the server.
//!
//! # What can go wrong, and what happens then
//!
//! | it happens | what is done |
//! |---|---|
//! | a list fails | it is asked for again, after a wait |
//! | a list brings no further item for 60 s | given up, the same |
//! | a 200 holds no list, one of another kind, group or version, or no JSON | the same; it changes nothing |
//! | a list is older than what was seen | refused as [`ListError::Stale`]: another API server lags |
//! | five in a row are | asked for once without a version: only that tells a restored server |
//! | a line of a watch is older than what was seen | refused, and a new list after a wait finds out why |
//! | the answer to a list that named no version is older | taken: the server was restored from a backup |
//! | the same, to the first list of a later run that asked for the newest by choice | asked for once more, after a wait: one of several copies may lag |
//! | the version of a list is not older, but an object in it is | told as it is; the [store](crate::store) knows it for a restored server |
//! | a later page has expired, or its token is refused | one list in one piece, from the start |
//! | the pages go in a circle: a token or a page comes again, or a hundred bring no name | the same; the list has failed if that goes in a circle, too |
//! | a watch ends after a second or more | opened again at once, where it ended |
//! | one after the other is cut so, and none has said a word for 5 to 10 min | a new list: something may hold back what it ought to pass on |
//! | the same for 30 to 60 min, with watches that the server ended when it was told to | the same; a server without bookmarks is silent where nothing happens |
//! | the same, with watches that only repeat themselves: no line moves the version on | the same; something may answer from a copy |
//! | a watch ends at once and without news | opened again after a wait |
//! | the same, with news | opened again at once, twice; then after a wait |
//! | 410, as status or as a line | a new list; after a wait if the watch had brought nothing |
//! | a third list is needed, each within a minute of the last | it comes after a wait |
//! | 401, 403 | told at once with verb, resource and namespace; asked for again every 15 to 30 s |
//! | 429, 5xx or no connection for a watch | it is opened again after a wait |
//! | the third watch in a row that comes to nothing: 5xx, no answer, silence, an end at once | a new list after the wait |
//! | `Retry-After`, in the head or in the body | no wait is shorter, up to 5 min |
//! | another refusal, 404 for example | a new list after a wait |
//! | silence, or only what cannot be read, for 150 s from a server that has ever sent a bookmark, such as the end of a streamed list | given up: the connection is dead |
//! | a watch is open for longer than the server lets it live, and 30 s | the same |
//! | an object that cannot be read | [`WatchEvent::Unreadable`], and on with the next |
//! | an object or a bookmark of another kind, group or version | the same, and nothing of it is believed |
//! | an item or a line over 16 MiB | the same; it is skipped without being kept |
//! | a line, or an item of a list, that hides which object it is about, or a line whether that is gone | the same, and a new list when the watch ends |
//!
//! A wait is drawn evenly between a floor and twice the floor; the floor doubles from 0.8 to
//! 15 s ([`WatchOptions::backoff`]). It starts over only after a *healthy* time, which is a
//! line that moved the version on, or a minute of an open watch, and not where lists or watches
//! follow each other in a circle: a server that is down for an hour sees no ramp of quick
//! retries every few minutes, as it does from client-go, whose backoff starts over by the
//! clock. Nobody else repeats these requests, see [`Retried`](crate::client::Retried).
//!
//! # Promises
//!
//! - Events come in the order of the server's history, through one task, to one sink.
//! - Between a [`ListDone`](WatchEvent::ListDone) and the next
//!   [`ListStarted`](WatchEvent::ListStarted) no change is left out.
//! - No version is taken back, except by a list that says `restored`. That holds over a stop
//!   and a start, too: [`Reflector::resume`]. It is about what lists and watches say of
//!   themselves; whether each object is as new as it was, the cache knows.
//! - Nothing is waited for without an end, and nothing is repeated without a pause.
//! - It ends when it is told to and never by itself.
//!
//! **Not promised:** that an event arrives at any particular time, that each state of an
//! object is seen, or that a kind for which there is no permission is ever listed. See
//! [`ReflectorStatus`] for how to notice.
//!
//! # Costs
//!
//! One request at a time, so one connection. No task: [`Reflector::run`] is a future. Lists
//! and watches are read item by item as their bytes arrive: what is in memory is one frame, one
//! item, 16 MiB at the very most, and while a list is streamed some 16 bytes an object. A streamed
//! list is not compressed, a paged one is.
//!
//! # Testing against it
//!
//! A closure is an [`EventSink`], and [`client::layered`](crate::client::layered) makes a
//! client of any tower service: see the example at [`Reflector`]. [`Streaming::Never`] makes a
//! script of lists and watches shorter to write.
mod backoff;
mod codec;
mod event;
mod follow;
#[cfg(test)]
mod fuzz;
mod hearing;
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
mod seen;
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
pub use options::{FirstList, Streaming, WatchOptions};
pub use reflector::Reflector;
pub use resource_version::compare_resource_versions;
pub(crate) use resource_version::{advances, is_older};
pub use selector::{LabelSelector, SelectorError};
pub(crate) use selector::{is_qualified, is_subdomain};
pub use server_memory::ServerMemory;
pub use status::{ReflectorStatus, State};
