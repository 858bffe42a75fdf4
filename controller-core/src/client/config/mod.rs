//! Files, environment, service account → [`Loaded`].
//!
//! Where kubectl looks, in its order:
//!
//! 1. `--kubeconfig FILE`: that file and nothing else; it must exist.
//! 2. `KUBECONFIG`: a list. Empty entries and missing files are skipped, a file counts
//!    once. Of two entries with one name, and of two current contexts, the first wins.
//! 3. `~/.kube/config`, when `KUBECONFIG` is empty or unset.
//! 4. The service account of the pod, only when none of these holds any configuration.
//!
//! Only what the selected context names is checked: a broken user elsewhere in the file
//! harms nobody. kube's own loader is not used, because it falls back to the pod on any
//! error, fails on the first missing file, and decides about proxies wrongly.
//!
//! Two differences from kubectl, both because acting on the wrong cluster is worse than
//! an error: a configuration with contexts of which none is selected is an error even in
//! a pod, and where nothing is configured `localhost:8080` is not tried.
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
