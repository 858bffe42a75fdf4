use std::fmt;
use std::sync::Arc;

use crate::client::ResourceType;
use crate::watch::ListError;

/// Not every cache holds the first list of its run.
///
/// ```text
/// pods, secrets (access is denied) not synced: the deadline has passed
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error("{} not synced: {why}", Named(.which))]
pub struct NotSynced {
    /// What ended the waiting.
    pub why: WhyNotSynced,
    /// The kinds without a list, in alphabetical order.
    pub which: Vec<Unsynced>,
}

/// A kind whose first list is missing.
#[derive(Clone, Debug)]
pub struct Unsynced {
    /// The kind.
    pub resource: ResourceType,
    /// What went wrong last, if anything did; without it the server was only slow.
    pub error: Option<Arc<ListError>>,
}

/// Why nobody waits any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNotSynced {
    /// The time was over.
    Deadline,
    /// An informer was stopped.
    Stopped,
}

struct Named<'a>(&'a [Unsynced]);

// === impl NotSynced ===

impl NotSynced {
    pub(super) fn new(why: WhyNotSynced, which: impl Iterator<Item = Unsynced>) -> Self {
        let mut which: Vec<_> = which.collect();
        which.sort_by_cached_key(|it| it.resource.to_string());
        Self { why, which }
    }
}

// === impl WhyNotSynced ===

impl fmt::Display for WhyNotSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deadline => "the deadline has passed",
            Self::Stopped => "stopped before the first list",
        })
    }
}

// === impl Named ===

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Unsynced { resource, error }) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{resource}")?;
            if let Some(error) = error {
                write!(f, " ({error})")?;
            }
        }
        Ok(())
    }
}
