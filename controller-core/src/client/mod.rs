//! kubeconfig, service account → [`kube::Client`].
mod call;
mod deadline;
mod error;
mod key;
mod resource;
mod retry;
mod retrying;
mod stack;
mod trace;

pub(crate) use call::fetch_with;
pub use call::{Call, Target, Verb, fetch, send};
pub use error::{Answer, ApiError, TlsFailure};
pub use key::{KeyError, ObjectKey};
pub use resource::{ResourceType, Scope};
pub use retry::{OnWait, RetryPolicy, Waiting};
pub use stack::{ClientOptions, layered, user_agent};
