//! HTTP → [`WatchEvent`].
//!
//! A [`Reflector`] lists a kind, then watches it, and never stops. It recovers from
//! everything but a bug, and it never goes back in time.
//!
//! **Lists** are paged as client-go's: the first one takes any version that the server's
//! watch cache has, later ones none below what was seen. An answer that is older than an
//! earlier one comes from an API server that lags, and is refused; only an answer to a
//! question without a version may be older, and means that the server was restored.
//!
//! **Watches** ask for bookmarks and resume at the last version. `410 Gone`, as HTTP
//! status or as a line in the stream, leads to a new list. A watch that ends at once is
//! opened again with backoff (0.8 to 30 s, with jitter, starting over only after a healthy
//! time); one that ends later is opened again at once. A watch that is silent for 150 s
//! where bookmarks were seen, or longer than the server itself lets it live, is given up:
//! its connection is dead.
//!
//! **What cannot be read** is reported as [`WatchEvent::Unreadable`] and stops nothing.
mod backoff;
mod event;
mod json;
mod lines;
mod list;
mod object;
mod options;
mod reflector;
mod resource_version;
mod selector;
mod status;
#[cfg(test)]
pub(crate) mod testing;

pub use event::{EventSink, News, Unreadable, WatchEvent};
pub use list::{ListError, list_once};
pub use object::Object;
pub use options::WatchOptions;
pub use reflector::Reflector;
pub use resource_version::compare_resource_versions;
pub use selector::{LabelSelector, SelectorError};
pub use status::{Phase, ReflectorStatus};
