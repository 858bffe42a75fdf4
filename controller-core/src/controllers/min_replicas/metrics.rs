use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::raise::{Raise, Through};
use super::reason::{Class, Reason};
use super::reporter::Reporter;
use super::verdict::{Effect, Verdict};
use super::write_scale::{WriteError, WriteScale};
use crate::client::{ApiError, ObjectKey};

/// What min-replicas counts, for a registry of the caller's.
///
/// A clone counts into the same numbers. One that was never registered counts for nobody,
/// and costs next to nothing.
///
/// | name | type | labels | what |
/// |---|---|---|---|
/// | `minrep_raises_total` | counter | `target` | raises that the server honoured |
/// | `minrep_would_raise` | gauge | | Deployments that a dry run would raise |
/// | `minrep_failures_total` | counter | `reason` | looks that ended in a failure |
/// | `minrep_skipped` | gauge | `reason` | Deployments that are left alone, or wait, just now |
/// | `minrep_fights_total` | counter | | times that a fight held a raise back |
/// | `minrep_budget_delayed_total` | counter | | times that a Deployment had to wait for its turn |
/// | `minrep_write_attempts_total` | counter | `target`, `code` | writes sent, by what was answered |
///
/// `target` is `deployment` or `autoscaler`, `reason` a [`Reason::name`] or a
/// [`Failure::token`](super::Failure::token), and `code` the HTTP status, or `<error>`, as
/// client-go has it, where no answer came. No label holds the name of an object: thousands
/// of series help nobody.
///
/// ```
/// use controller_core::controllers::min_replicas::Metrics;
/// use prometheus_client::encoding::text::encode;
/// use prometheus_client::registry::Registry;
///
/// let metrics = Metrics::default(); // goes into `RunOptions`
/// let mut registry = Registry::default();
/// metrics.register(&mut registry);
///
/// let mut text = String::new();
/// encode(&mut text, &registry)?;
/// assert!(text.contains("minrep_fights_total 0"));
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Numbers>);

/// A writer that counts what becomes of its writes: see [`Metrics::counting`].
#[derive(Debug)]
pub struct Counting<W> {
    writer: W,
    metrics: Metrics,
}

#[derive(Debug, Default)]
struct Numbers {
    raises: Family<Target, Counter>,
    would_raise: Gauge,
    failures: Family<Cause, Counter>,
    skipped: Family<Cause, Gauge>,
    fights: Counter,
    delayed: Counter,
    write_attempts: Family<Attempt, Counter>,
    /// Of each Deployment, what its last verdict is counted as now.
    standing: Mutex<HashMap<ObjectKey, Standing>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Target {
    target: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Cause {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempt {
    target: &'static str,
    code: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// By reason.
    Skipped(&'static str),
    WouldRaise,
    /// It cannot be raised until somebody changes something.
    Blocked,
    Other,
}

// === impl Metrics ===

impl Metrics {
    /// Makes them a part of `registry`. Once: a second call would show each twice.
    pub fn register(&self, registry: &mut Registry) {
        let numbers = &self.0;
        let registry = registry.sub_registry_with_prefix("minrep");
        registry.register(
            "raises",
            "Raises that the server honoured",
            numbers.raises.clone(),
        );
        registry.register(
            "would_raise",
            "Deployments that a dry run would raise",
            numbers.would_raise.clone(),
        );
        registry.register(
            "failures",
            "Looks at a Deployment that ended in a failure",
            numbers.failures.clone(),
        );
        registry.register(
            "skipped",
            "Deployments that are left alone, or wait, by reason",
            numbers.skipped.clone(),
        );
        registry.register(
            "fights",
            "Times that a fight held a raise back",
            numbers.fights.clone(),
        );
        registry.register(
            "budget_delayed",
            "Times that a Deployment had to wait for its turn",
            numbers.delayed.clone(),
        );
        registry.register(
            "write_attempts",
            "Writes sent, by what was answered",
            numbers.write_attempts.clone(),
        );
    }

    /// A writer that sends through `writer` and counts each write.
    pub fn counting<W>(&self, writer: W) -> Counting<W> {
        Counting {
            writer,
            metrics: self.clone(),
        }
    }

    /// Counts a write that was answered when nobody waited for it any more.
    pub fn count_late_answer(&self, raise: &Raise, answer: &Result<i32, ApiError>) {
        let code = match answer {
            Ok(_) => "200".to_owned(),
            Err(error) => code_of(error),
        };
        self.count_attempt(target_of(raise), code);
    }

    fn count_attempt(&self, target: &'static str, code: String) {
        let attempt = Attempt { target, code };
        self.0.write_attempts.get_or_create(&attempt).inc();
    }
}

impl Reporter for Metrics {
    fn report(&self, verdict: &Verdict) {
        let numbers = &self.0;
        let now = Standing::of(verdict);
        let before = numbers.change_standing(verdict, now);
        match &verdict.effect {
            Effect::Raised { .. } => {
                let target = match verdict.reason.autoscaler() {
                    None => DEPLOYMENT,
                    Some(_) => AUTOSCALER,
                };
                numbers.raises.get_or_create(&Target { target }).inc();
            }
            // Nothing is tried there: a look that finds it as it was is no new failure.
            Effect::Failed(_) if now == Standing::Blocked && before == Some(now) => {}
            Effect::Failed(failure) => {
                let reason = failure.token();
                numbers.failures.get_or_create(&Cause { reason }).inc();
            }
            Effect::None if before != Some(now) => match verdict.reason {
                Reason::Fight { .. } => _ = numbers.fights.inc(),
                Reason::Budget { .. } => _ = numbers.delayed.inc(),
                _ => {}
            },
            _ => {}
        }
    }
}

const DEPLOYMENT: &str = "deployment";
const AUTOSCALER: &str = "autoscaler";

fn target_of(raise: &Raise) -> &'static str {
    match raise.through {
        Through::Scale => DEPLOYMENT,
        Through::Autoscaler { .. } => AUTOSCALER,
    }
}

fn code_of(error: &ApiError) -> String {
    match error.code() {
        Some(code) => code.to_string(),
        None => "<error>".to_owned(),
    }
}

// === impl Counting ===

impl<W: WriteScale> WriteScale for Counting<W> {
    async fn write_scale(&self, raise: &Raise, dry_run: bool) -> Result<i32, WriteError> {
        let answer = self.writer.write_scale(raise, dry_run).await;
        let code = match &answer {
            Ok(_) => "200".to_owned(),
            Err(WriteError::Api(error)) => code_of(error),
            // It was not sent.
            Err(WriteError::Closed) => return answer,
        };
        self.metrics.count_attempt(target_of(raise), code);
        answer
    }
}

// === impl Numbers ===

impl Numbers {
    /// Moves the Deployment from where it was counted to where it is now. Returns where it
    /// was.
    fn change_standing(&self, verdict: &Verdict, now: Standing) -> Option<Standing> {
        let mut standing = self.standing.lock();
        let before = match verdict.reason.class() {
            // Nothing new is known of it.
            Class::Unread => return standing.get(&verdict.key).copied(),
            Class::Gone => standing.remove(&verdict.key),
            _ => standing.insert(verdict.key.clone(), now),
        };
        if let Some(gauge) = before.and_then(|before| self.gauge(before)) {
            gauge.dec();
        }
        if verdict.reason.class() != Class::Gone
            && let Some(gauge) = self.gauge(now)
        {
            gauge.inc();
        }
        before
    }

    fn gauge(&self, standing: Standing) -> Option<Gauge> {
        match standing {
            Standing::Skipped(reason) => {
                Some(self.skipped.get_or_create(&Cause { reason }).clone())
            }
            Standing::WouldRaise => Some(self.would_raise.clone()),
            Standing::Blocked | Standing::Other => None,
        }
    }
}

// === impl Standing ===

impl Standing {
    fn of(verdict: &Verdict) -> Self {
        match (&verdict.effect, verdict.reason.class()) {
            (Effect::WouldRaise { .. }, _) => Self::WouldRaise,
            (Effect::Failed(failure), _) if failure.is_terminal() => Self::Blocked,
            (Effect::None, Class::Skipped | Class::Waiting) => Self::Skipped(verdict.reason.name()),
            _ => Self::Other,
        }
    }
}
