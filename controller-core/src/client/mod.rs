//! kubeconfig, service account → [`kube::Client`].
mod key;
mod resource;

pub use key::{KeyError, ObjectKey};
pub use resource::{ResourceType, Scope};
