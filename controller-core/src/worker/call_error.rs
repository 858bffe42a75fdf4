use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::reconciler::ReconcileError;

/// Why a call ended without an answer of the reconciler.
///
/// Layers pass it on as the source of a [`ReconcileError::Transient`], where
/// [`CallError::of`] finds it again.
///
/// ```
/// use controller_core::worker::layers::CatchPanicLayer;
/// use controller_core::worker::{CallError, ReconcileRequest, ReconcileService};
/// # use std::sync::Arc;
/// # use controller_core::worker::{Outcome, ReconcileError, Reconciler};
/// use tower::{Layer, ServiceExt};
/// # struct Broken;
/// # impl Reconciler for Broken {
/// #     type Key = String;
/// #     async fn reconcile(&self, _: &String) -> Result<Outcome, ReconcileError> {
/// #         panic!("index out of bounds")
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let service = CatchPanicLayer::new().layer(ReconcileService::new(Arc::new(Broken)));
/// let request = ReconcileRequest::new("shop/web".to_owned());
/// let error = service.oneshot(request).await.expect_err("it panics");
/// assert!(matches!(CallError::of(&error), Some(CallError::Panicked(text)) if text == "index out of bounds"));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// It panicked with this text.
    #[error("panicked: {0}")]
    Panicked(String),
    /// It was given up after this long.
    #[error("took longer than {0:?}")]
    DeadlineExceeded(Duration),
}

/// Runs code that is not ours. Its panic is an error like any other.
///
/// What the code left half done is its own business: our side hands it nothing that a panic
/// could leave inconsistent.
pub(super) fn caught<T>(code: impl FnOnce() -> T) -> Result<T, CallError> {
    catch_unwind(AssertUnwindSafe(code)).map_err(CallError::panicked)
}

// === impl CallError ===

impl CallError {
    /// The call error that `error` came from, if it came from one: also through layers that
    /// wrapped it, as long as they tell their [source](Error::source).
    pub fn of(error: &ReconcileError) -> Option<&Self> {
        let mut next = error.source();
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }

    /// With the text that `panic!` was given.
    pub(super) fn panicked(payload: Box<dyn Any + Send>) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("a payload that is no text").to_owned();
        // What `panic_any` was given may panic in its turn. One that does so twice is kept.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(again);
        }
        Self::Panicked(text)
    }
}

impl From<CallError> for ReconcileError {
    fn from(error: CallError) -> Self {
        Self::transient(error)
    }
}
