use std::fmt;
use std::sync::Arc;

use crate::client::{ApiError, ResourceType};
use crate::controllers::min_replicas::Namespace;
use crate::watch::ListError;

/// Why the controller did not come to work: the first kind that could not be read, in a way
/// that waiting does not mend.
///
/// Nothing has been decided or written by then.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot read {resource}")]
pub struct NotSynced {
    /// What could not be listed or watched.
    pub resource: ResourceType,
    /// The answer, or why there was none.
    pub source: Arc<ListError>,
}

/// Why paused namespaces are not known.
pub(super) struct NamespacesUnread<'a>(pub(super) &'a ListError);

// === impl NotSynced ===

impl NotSynced {
    /// The refusal behind it, where a request was refused.
    pub fn api_error(&self) -> Option<&ApiError> {
        match &*self.source {
            ListError::Api(error) => Some(error),
            _ => None,
        }
    }
}

/// Whether a first list, or a first watch, that failed like this will not come right by waiting: somebody
/// has to mend something, and a program that waits in silence hides what.
///
/// Everything else (an overloaded server, a timeout) is worth waiting for.
pub(super) fn is_hopeless(error: &ListError) -> bool {
    match error {
        ListError::Api(error) => matches!(
            error,
            ApiError::Refused { .. }
                | ApiError::Dns { .. }
                | ApiError::Tls { .. }
                | ApiError::Unreachable { .. }
                | ApiError::Proxy { .. }
                | ApiError::Credentials { .. }
                | ApiError::Unauthorized(_)
                | ApiError::Forbidden(_)
                | ApiError::NotFound(_)
                | ApiError::Unsendable { .. }
        ),
        ListError::Stale { .. }
        | ListError::NoVersion
        | ListError::NotAList { .. }
        | ListError::OtherKind { .. }
        | ListError::NotJson { .. }
        | ListError::PagesExpire
        | ListError::PagesRepeat
        | ListError::CutShort
        | ListError::Restless
        | ListError::WatchesEndAtOnce => false,
    }
}

// === impl NamespacesUnread ===

impl fmt::Display for NamespacesUnread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cannot be read, so none is taken for paused: {}",
            Namespace::RESOURCE,
            self.0
        )
    }
}
