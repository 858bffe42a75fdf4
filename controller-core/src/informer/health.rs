use std::fmt;
use std::time::Duration;

use crate::client::ResourceType;
use crate::watch::{ReflectorStatus, State};

/// How an informer is doing at one moment: for a probe, a metric, a page that people read.
///
/// ```
/// use controller_core::informer::Health;
/// use controller_core::watch::State;
///
/// /// For a readiness probe: there is something to decide from, and it is kept.
/// fn is_ready(health: &Health) -> bool {
///     health.status.listed_this_run && !matches!(health.status.state, State::Stopped)
/// }
///
/// /// For a liveness probe: only what a restart may mend. A server that is away is not.
/// fn is_stuck(health: &Health) -> bool {
///     health.handlers.iter().any(|handler| handler.lag.as_secs() > 300)
/// }
/// ```
///
/// As text it is one line, without the names of objects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Health {
    /// The kind that is watched.
    pub resource: ResourceType,
    /// How the watch is doing.
    pub status: ReflectorStatus,
    /// How many objects the cache holds.
    pub objects: usize,
    /// How many objects there are whose newest state could not be read. See
    /// [`Lister::quarantine`](crate::store::Lister::quarantine) for which.
    pub quarantined: usize,
    /// Whether there may be objects of which not even the key is known. See
    /// [`Lister::hides_objects`](crate::store::Lister::hides_objects).
    pub hides_objects: bool,
    /// The handlers, in the order in which they were added.
    pub handlers: Vec<HandlerHealth>,
}

/// How one handler is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandlerHealth {
    /// What it calls itself.
    pub name: String,
    /// Whether it has heard of everything that the first list brought.
    pub synced: bool,
    /// How many changes it has not heard.
    pub pending: usize,
    /// How long ago the oldest of them happened, at most.
    pub lag: Duration,
    /// How many of its calls panicked.
    pub panics: u64,
}

// === impl Health ===

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource, status, ..
        } = self;
        let lasts = status.since.elapsed().as_secs();
        write!(f, "{resource}: {} for {lasts}s", status.state)?;
        if let State::BackingOff { why, .. } = &status.state {
            write!(f, " ({why})")?;
        }
        let s = if self.objects == 1 { "" } else { "s" };
        write!(f, ", {} object{s}", self.objects)?;
        if status.synced && !status.listed_this_run {
            write!(f, " of an earlier run")?;
        }
        if let Some(version) = status.resource_version() {
            write!(f, " at {version}")?;
        }
        if let Some(contact) = status.last_contact() {
            write!(f, ", last contact {}s ago", contact.elapsed().as_secs())?;
        }
        write!(f, ", {} restarts", status.restarts())?;
        if self.quarantined > 0 {
            write!(f, ", {} quarantined", self.quarantined)?;
        }
        if self.hides_objects {
            write!(f, ", objects without a key hidden")?;
        }
        for handler in &self.handlers {
            write!(f, "; {handler}")?;
        }
        Ok(())
    }
}

// === impl HandlerHealth ===

impl fmt::Display for HandlerHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.name)?;
        match (self.synced, self.pending) {
            (true, 0) => write!(f, "has heard everything")?,
            (true, pending) => write!(f, "{pending} behind, {}s", self.lag.as_secs())?,
            (false, pending) => write!(f, "not synced, {pending} behind")?,
        }
        match self.panics {
            0 => Ok(()),
            panics => write!(f, ", {panics} panics"),
        }
    }
}
