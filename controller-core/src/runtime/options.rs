use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::watch;

use super::{Progress, RetryDelays};
use crate::client::{ObjectKey, Scope};
use crate::controllers::min_replicas::{Metrics, Settings, Verdict};
use crate::queue::QueueMetrics;
use crate::worker::WorkerMetrics;
use crate::write::events::{EventCounts, EventMetrics, EventSource};

/// How [`run`](super::run) runs the controller.
///
/// There is no default, because the right numbers depend on who starts it. The plugin's
/// are: 2 workers, retries after 500 ms to 15 min, a resync of 30 s, 25 s of grace, a write
/// deadline one second above the client's request timeout, and a reconcile deadline of twice
/// that.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// What the controller decides by.
    pub settings: Settings,
    /// Which namespaces it looks after.
    pub scope: Scope,
    /// How many objects are reconciled at once, at least one. It bounds the writes under way
    /// too.
    pub workers: usize,
    /// How many raises any 60 seconds may have. `None` is no limit; the plugin's default is
    /// 100. Those that wait for their turn are delayed, in the order in which they came.
    pub max_raises_per_minute: Option<NonZeroU32>,
    /// How long an object waits after a failure. Neither an event nor the resync shortens the
    /// wait of a raise that was refused or cut off; a change of what is to be raised does.
    pub retry: RetryDelays,
    /// Where it counts; see [`Metrics`] for what. The default is a place that nobody reads.
    pub metrics: Metrics,
    /// As whom it tells of what it does, in Events of the Deployments. `None` tells nobody, and
    /// so does every dry run.
    pub events: Option<EventSource>,
    /// Where these Events are counted. The default is a place that nobody reads.
    pub event_metrics: EventMetrics,
    /// How often every object is looked at again although nothing was heard of it; it
    /// asks nothing of the server. `None` is never. Not zero.
    pub resync: Option<Duration>,
    /// How long the keys in line may be worked off after the shutdown was asked for. Zero
    /// drops them at once; writes that were sent are awaited even then.
    pub shutdown_grace_period: Duration,
    /// How long writes under way are awaited at the very end: the client's request
    /// deadline, and a little more.
    pub write_deadline: Duration,
    /// How long one look at one object may take, all that it asks the server included. Then it
    /// is given up and tried again like any failure, so that no worker is kept for ever. A
    /// write that was sent is not cut by it: its answer is reported when it comes, a refusal
    /// only if the next look has not come further by then. A refusal that has come is reported
    /// at once, even if what it was to be judged by is cut. `None` is no limit.
    ///
    /// The plugin's is twice the write deadline: a look rarely takes more than a read and a
    /// write, and each may take as long as a request may. A shorter one would cut off looks
    /// whose write is about to be answered, and try them again beside it. So it has none where
    /// requests have no deadline: a raise that hangs keeps its place among
    /// `max_raises_per_minute` only for as long as its look goes on, and a minute more.
    pub reconcile_deadline: Option<Duration>,
    /// Where the workers count their looks, under controller-runtime's names. The default is a
    /// place that nobody reads.
    pub worker_metrics: WorkerMetrics,
    /// Where the queue of a run is shown, under controller-runtime's names. Several runs may
    /// have the same one after the other: the last is shown.
    pub queue_metrics: QueueMetrics,
}

/// What a run left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Whether the first lists were read: without them nothing was decided.
    pub synced: bool,
    /// Whether every key in line was worked off.
    pub completed: bool,
    /// How many calls succeeded. A key that was looked at twice counts twice; calls that
    /// failed do not count.
    pub reconciled: u64,
    /// How many keys still waited for their time: retries and the like.
    pub dropped_delayed: usize,
    /// How many keys were in line or in work when the grace period ended.
    pub abandoned: usize,
    /// How many of them were in work. What they had sent is awaited, and tells of itself.
    pub abandoned_in_work: usize,
    /// How many writes had been sent and had no answer: they may have been applied. One that
    /// hung earlier in the run no longer counts when it has ended, and its object was found, or
    /// made, as it should be.
    pub unanswered: usize,
    /// What became of the Events.
    pub events: EventCounts,
}

/// What [`once`](super::once) looks at, and how.
#[derive(Clone, Debug)]
pub struct OnceOptions {
    /// What the controller decides by.
    pub settings: Settings,
    /// Which Deployments to look at.
    pub targets: Targets,
    /// How many objects are settled at once, at least one: read, where they were named, and
    /// written.
    pub workers: usize,
    /// How many objects may be changed. If more would be, nothing is written, and the report
    /// says so. `None` is no limit.
    pub max_changes: Option<usize>,
    /// How long the pass may take, reading included. Then no new write is sent. Those under
    /// way are awaited all the same, so that the pass may take `write_deadline` longer.
    /// `None` is no limit.
    pub timeout: Option<Duration>,
    /// How long writes under way are awaited after an interrupt, or after the timeout: the
    /// client's request deadline, and a little more.
    pub write_deadline: Duration,
    /// Where it says how far it is; see [`Progress`]. The default is a place that nobody
    /// looks at.
    pub progress: watch::Sender<Progress>,
}

/// Which Deployments a pass looks at.
#[derive(Clone, Debug)]
pub enum Targets {
    /// All that opted in.
    OptedIn(Scope),
    /// These, opted in or not: one that did not opt in is told so.
    Named {
        /// The namespace of all of them.
        namespace: String,
        /// Their names.
        names: Vec<String>,
    },
}

/// What one pass found and did.
///
/// Everything in it is for a person or for an exit code. An object that failed is in
/// `verdicts` like any other, with [`Effect::Failed`].
///
/// [`Effect::Failed`]: crate::controllers::min_replicas::Effect::Failed
#[derive(Clone, Debug, Default)]
pub struct OnceReport {
    /// Whether everything that decisions need was read: else nothing was decided.
    pub synced: bool,
    /// One for each object that was looked at, sorted by key. If it was cut short those that
    /// nobody came to are not among them.
    pub verdicts: Vec<Verdict>,
    /// Deployments that were named and do not exist.
    pub missing: Vec<ObjectKey>,
    /// The namespace that was named, if it does not exist.
    pub missing_namespace: Option<String>,
    /// Whether it was interrupted before everything was done.
    pub interrupted: bool,
    /// Whether the timeout came before everything was done.
    pub timed_out: bool,
    /// How many objects were to be changed, or would be changed by a dry run.
    pub planned: usize,
    /// Set if those were more than may be, so that nothing was written.
    pub too_many: Option<TooManyChanges>,
    /// How many Deployments the end came before: nothing is known of them.
    pub not_looked_at: usize,
    /// How many writes had been sent and had no answer in time: they may have been applied.
    pub unanswered: usize,
    /// What could not be looked at, in sentences.
    pub warnings: Vec<String>,
}

/// More would be changed than may be: nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{planned} Deployment{} would be changed, and at most {allowed} may be",
    if *.planned == 1 { "" } else { "s" }
)]
pub struct TooManyChanges {
    /// How many would be changed.
    pub planned: usize,
    /// How many may be.
    pub allowed: usize,
}

// === impl Targets ===

impl Targets {
    /// Where they are.
    pub fn scope(&self) -> Scope {
        match self {
            Self::OptedIn(scope) => scope.clone(),
            Self::Named { namespace, .. } => Scope::Namespace(namespace.clone()),
        }
    }
}
