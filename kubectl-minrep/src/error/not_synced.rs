//! What kept a pass, or a loop, from seeing the cluster → what a person reads.

use controller_core::runtime::NotSynced;
use controller_core::watch::ListError;

use super::{Exit, Place, Report, explain};

/// Explains why nothing could be listed. Nothing was written then.
pub fn explain_not_synced(error: &NotSynced, place: &Place) -> Report {
    if let Some(error) = error.api_error() {
        return explain(error, place);
    }
    let report = Report::error(
        Exit::Unreachable,
        format_args!("cannot read {}: {}", error.resource, error.source),
    );
    match &*error.source {
        ListError::NotJson { .. }
        | ListError::NotAList { .. }
        | ListError::OtherKind { .. }
        | ListError::NoVersion => report.hint(format_args!(
            "{} at {}: is that a Kubernetes API server?",
            place.route(),
            place.server
        )),
        _ => report.hint(
            "several API servers behind one address, or one that was just restored? try again",
        ),
    }
}
