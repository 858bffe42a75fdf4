//! HTTP → [`WatchEvent`].
mod object;

pub use object::Object;
