use std::fmt;
use std::future::Future;
use std::time::Duration;

use super::request::ReconcileRequest;

/// What a reconcile call says when it is done with a key.
///
/// Almost always `Done`: the next event brings the key back. `RequeueAfter` is for what no
/// event announces, because it happens outside of Kubernetes or is a matter of time: a
/// certificate that expires, a cloud load balancer that is being made. It is no
/// way to poll for what a watch would tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The object is as it should be. The key's failure count is forgotten.
    Done,
    /// The object is fine for now and wants another look after this long. The failure
    /// count is forgotten; an event before then is served at once. Zero is at once too, behind
    /// the keys that are in line: not `Done`, as in controller-runtime, so that a reconcile
    /// that always says so never rests.
    RequeueAfter(Duration),
    /// Nothing was tried, for it is too early: a wait after a failure is not over, or a turn
    /// has not come. The key comes back after this long, or with an event before then, and its
    /// failure count stays as it is: a look that an event caused in the middle of a wait
    /// must not begin the backoff anew.
    ///
    /// Not for what was tried and failed. That is an error, or it is never counted.
    NotYet(Duration),
}

/// Why a reconcile call did not reach its goal.
///
/// | it failed because | return |
/// |---|---|
/// | the server answered 409, 429, 5xx, or not at all | `Transient` |
/// | a permission or a quota is missing, a webhook refuses | `Transient`: it may be mended without an event |
/// | another object that this one needs is not there yet | `Transient`, or `Done` if its event brings the key back |
/// | what the object asks for makes no sense | `Terminal`: only a change of the object can help |
/// | the object is gone | no error at all: `Ok(Outcome::Done)` |
///
/// The dangerous mistake is to call something terminal whose cause is *outside* of the
/// object. No event comes when it is mended, and the object stays as it is until somebody
/// touches it or a resync comes by. In doubt it is transient: the limiter sees to it that a
/// hopeless key costs one call in 1000 s.
///
/// ```
/// use controller_core::client::ApiError;
/// use controller_core::worker::ReconcileError;
///
/// fn judge(error: ApiError) -> ReconcileError {
///     match error {
///         // The server has read what we made of the object, and says that it is nonsense.
///         error @ ApiError::Invalid(_) => ReconcileError::terminal(error),
///         error => ReconcileError::transient(error),
///     }
/// }
/// ```
#[derive(Debug)]
pub enum ReconcileError {
    /// Trying again may help: the key is re-added rate-limited.
    Transient(Box<dyn std::error::Error + Send + Sync>),
    /// Trying again cannot help until the object changes: the key is not retried. Its
    /// failures are forgotten, so that the next event starts afresh.
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
///
/// ```text
/// wrong   self.created.lock().insert(key)         and next time: "I have made it already"
///         somebody deletes it by hand, and nobody makes it again
///
/// right   self.children.get(key).is_some()        the cache says what is
/// ```
///
/// What may be kept is what would only make the next call cheaper, and does no harm when it
/// is wrong or lost: when to try again, what was logged last.
///
/// Where the write of a call is not yet in the cache, the next call for the key plans from
/// the state before it. For a guarded write that is a 409 and another look. For a *create*
/// give the new object a name that follows from the key, so that the second one answers
/// `AlreadyExists`: with `generateName` there would be two.
///
/// A call may be dropped at any of its awaits, at its deadline or at a shutdown. So do not
/// leave two things half done that must be done together; a next call has to be able to
/// see how far the last one came, by looking at the world.
pub trait Reconciler: Send + Sync + 'static {
    /// What the queue carries: usually an [`ObjectKey`](crate::client::ObjectKey).
    type Key: Clone + Eq + std::hash::Hash + Send + Sync + fmt::Display + 'static;

    /// Looks at the object behind `key` and does what is missing.
    fn reconcile(
        &self,
        key: &Self::Key,
    ) -> impl Future<Output = Result<Outcome, ReconcileError>> + Send;

    /// The same with what else is known of the call: which attempt it is, how long the key was
    /// in line, and a token that says when the call is given up.
    ///
    /// This is what the workers call. As it comes it calls [`reconcile`](Self::reconcile), and
    /// most reconcilers leave it at that: a call that is given up is dropped, and all that it
    /// awaits with it. Write it if the call hands work to a task, to a thread, or to a child
    /// process, for these are not dropped with it; they listen to
    /// [`ReconcileRequest::cancelled`]. `reconcile` then makes a request of its key:
    ///
    /// ```
    /// use controller_core::worker::{Outcome, ReconcileError, ReconcileRequest, Reconciler};
    /// use tokio_util::task::TaskTracker;
    ///
    /// struct Renderer {
    ///     tasks: TaskTracker, // joined at the program's end
    /// }
    ///
    /// impl Reconciler for Renderer {
    ///     type Key = String;
    ///
    ///     async fn reconcile(&self, key: &String) -> Result<Outcome, ReconcileError> {
    ///         self.reconcile_request(&ReconcileRequest::new(key.clone())).await
    ///     }
    ///
    ///     async fn reconcile_request(
    ///         &self,
    ///         request: &ReconcileRequest<String>,
    ///     ) -> Result<Outcome, ReconcileError> {
    ///         let cancelled = request.cancelled().clone();
    ///         let rendering = self.tasks.spawn_blocking(move || {
    ///             (0..1000).take_while(|_| !cancelled.is_cancelled()).count() // page by page
    ///         });
    ///         rendering.await.map_err(ReconcileError::transient)?;
    ///         Ok(Outcome::Done)
    ///     }
    /// }
    /// ```
    ///
    /// A reconciler that wraps another passes the request on, or the inner one sees a first
    /// attempt that nobody cancels.
    fn reconcile_request(
        &self,
        request: &ReconcileRequest<Self::Key>,
    ) -> impl Future<Output = Result<Outcome, ReconcileError>> + Send {
        self.reconcile(request.key())
    }
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
