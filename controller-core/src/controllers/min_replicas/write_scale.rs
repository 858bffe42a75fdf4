use std::future::Future;

use super::raise::Raise;
use crate::client::ApiError;

/// Under which name the server notes what we wrote.
pub const FIELD_MANAGER: &str = "minrep";

/// How min-replicas asks for a write. [`write`](mod@crate::write) implements it; a test may.
///
/// The controller owns the trait and the writer implements it, and not the other way round,
/// so that whoever reads the controller sees all that it can ever do to a cluster: this one
/// method.
///
/// ```
/// use controller_core::controllers::min_replicas::{Raise, WriteError, WriteScale};
///
/// /// A server that always does as it is told.
/// struct Obedient;
///
/// impl WriteScale for Obedient {
///     async fn write_scale(&self, raise: &Raise, _dry_run: bool) -> Result<i32, WriteError> {
///         Ok(raise.to)
///     }
/// }
/// ```
pub trait WriteScale: Send + Sync + 'static {
    /// Sends `raise`, guarded by [`Raise::guard`], to the Deployment's scale or to its
    /// autoscaler's minimum. Returns the number that the server has there now, or, with
    /// `dry_run`, would have: not always the one that was asked for.
    ///
    /// Once sent, the request runs to its end even if the returned future is dropped.
    ///
    /// # Errors
    /// [`WriteError::Api`] for everything that the server answers but success, and for no
    /// answer: then the write may have been applied, see [`ApiError::answer_lost`].
    fn write_scale(
        &self,
        raise: &Raise,
        dry_run: bool,
    ) -> impl Future<Output = Result<i32, WriteError>> + Send;
}

/// Why a write was not done, or may not have been.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The writer takes no more writes: this one was not sent, or the server turned it away
    /// with the advice to come back later, which it is too late for. Nothing was written.
    #[error("not sent: no more writes are taken")]
    Closed,
    /// The request failed.
    #[error(transparent)]
    Api(#[from] ApiError),
}

// === impl WriteScale ===

/// Whoever closes a writer at the end shares it with the controller.
impl<W: WriteScale> WriteScale for std::sync::Arc<W> {
    async fn write_scale(&self, raise: &Raise, dry_run: bool) -> Result<i32, WriteError> {
        (**self).write_scale(raise, dry_run).await
    }
}
