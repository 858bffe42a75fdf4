use std::fmt;
use std::future::Future;
use std::time::Duration;

/// What a reconcile call says when it is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The object is as it should be. The key's failure count is forgotten.
    Done,
    /// The object is fine for now and wants another look after this long. The failure
    /// count is forgotten; an event before then is served at once.
    RequeueAfter(Duration),
}

/// Why a reconcile call did not reach its goal.
#[derive(Debug)]
pub enum ReconcileError {
    /// Trying again may help: the key is re-added rate-limited.
    Transient(Box<dyn std::error::Error + Send + Sync>),
    /// Trying again cannot help until the object changes: the key is not retried.
    Terminal(Box<dyn std::error::Error + Send + Sync>),
}

/// The one function of a controller: make the world match what the key's object asks for.
///
/// Level-based: a call is told *which* object wants a look, never *what happened* to it,
/// and it is called for objects that no longer exist too. Calls for one key never
/// overlap. A call may be repeated at any time, so it must be idempotent.
///
/// The usual shape is to read the caches, compare, and write what is missing:
///
/// ```
/// use std::collections::BTreeMap;
/// use controller_core::client::ObjectKey;
/// use controller_core::worker::{Outcome, ReconcileError, Reconciler};
///
/// struct Enough {
///     cache: BTreeMap<ObjectKey, i32>, // a `Lister` in real life
/// }
///
/// impl Reconciler for Enough {
///     type Key = ObjectKey;
///
///     async fn reconcile(&self, key: &ObjectKey) -> Result<Outcome, ReconcileError> {
///         match self.cache.get(key) {
///             None => Ok(Outcome::Done), // gone: nothing to do is no error
///             Some(2..) => Ok(Outcome::Done),
///             Some(_) => Err(ReconcileError::transient("cannot scale yet")),
///         }
///     }
/// }
/// ```
///
/// The dangerous mistake is to remember something between two calls and to trust it:
/// events are merged, and a call may be skipped when its key was already in line.
pub trait Reconciler: Send + Sync + 'static {
    /// What the queue carries: usually an [`ObjectKey`](crate::client::ObjectKey).
    type Key: Clone + Eq + std::hash::Hash + Send + Sync + fmt::Display + 'static;

    /// Looks at the object behind `key` and does what is missing.
    fn reconcile(
        &self,
        key: &Self::Key,
    ) -> impl Future<Output = Result<Outcome, ReconcileError>> + Send;
}

// === impl ReconcileError ===

impl ReconcileError {
    /// An error that a later try may not meet.
    pub fn transient(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Transient(error.into())
    }

    /// An error that stays until the object changes.
    pub fn terminal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Terminal(error.into())
    }
}

impl fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transient(_) => f.write_str("reconcile failed"),
            Self::Terminal(_) => f.write_str("reconcile failed for good"),
        }
    }
}

impl std::error::Error for ReconcileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Transient(source) | Self::Terminal(source) => Some(source.as_ref()),
        }
    }
}

/// The error of a tower layer. One that boxed a `ReconcileError` gives it back, any
/// other is transient.
impl From<Box<dyn std::error::Error + Send + Sync>> for ReconcileError {
    fn from(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self::Transient(error),
        }
    }
}
