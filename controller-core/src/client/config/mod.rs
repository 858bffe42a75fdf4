//! Files, environment, service account → [`Loaded`].
//!
//! [`Loader`] says which files count and who wins. From there on: `files` finds and reads
//! them, `document` is one of them, `selected` picks the context, `user`, `server`,
//! `material`, `namespace` and `proxy` check what it names, `in_cluster` is the pod.
//!
//! **Invariant:** nothing here reads the process's environment but [`Environment`], and
//! nothing runs a program or opens a connection.
mod document;
mod environment;
mod error;
mod files;
mod in_cluster;
mod loaded;
mod loader;
mod material;
mod namespace;
mod proxy;
mod selected;
mod server;
mod text;
mod user;

pub use environment::Environment;
pub use error::{ConfigError, Place};
pub use loaded::{Loaded, Source};
pub use loader::Loader;
