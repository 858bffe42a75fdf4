//! What kept a pass, or a loop, from seeing the cluster → what a person reads.

use controller_core::runtime::NotSynced;

use super::{Exit, Place, Report, explain};

/// Explains why nothing could be listed. Nothing was written then.
pub fn explain_not_synced(error: &NotSynced, place: &Place) -> Report {
    match error.api_error() {
        Some(error) => explain(error, place),
        None => Report::error(
            Exit::Unreachable,
            format_args!("cannot read {}: {}", error.resource, error.source),
        )
        .hint("several API servers behind one address, or one that was just restored? try again"),
    }
}
