use std::fmt::Display;

use tracing::{Span, info_span};
use uuid::Uuid;

/// The span that one reconcile call runs in: everything that is logged on its behalf, by
/// whatever stage, has its id. The same key again is another call with another id.
///
/// It has a target of its own so that a log can have the ids without everything else that
/// the workers tell, and the other way round. The id's name is controller-runtime's.
pub(crate) fn reconcile_span(queue: &str, key: &impl Display) -> Span {
    info_span!(
        target: "controller_core::reconcile",
        "reconcile",
        queue,
        %key,
        reconcileID = %Uuid::new_v4(),
    )
}
