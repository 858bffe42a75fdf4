use std::sync::Arc;

use super::ListError;

/// How a reflector is doing.
#[derive(Clone, Debug, Default)]
pub struct ReflectorStatus {
    /// What it does just now.
    pub phase: Phase,
    /// Whether a list has been completed since it started. The cache may lag behind, but
    /// it is not empty for want of an answer.
    pub synced: bool,
    /// What went wrong last; `None` once things work again.
    pub error: Option<Arc<ListError>>,
}

/// The state of a reflector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Not running yet.
    #[default]
    Starting,
    /// Waiting for a list, or for the next try at one.
    Listing,
    /// Following the changes, or waiting for the next try at it.
    Watching,
}
