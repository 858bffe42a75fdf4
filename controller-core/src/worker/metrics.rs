use std::fmt;
use std::sync::Arc;
use std::thread;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use super::fate::{Fate, GivenUp};
use super::reconciler::{Outcome, ReconcileError};

/// What the workers of a program count, for a registry of the caller's: controller-runtime's
/// names, labels and buckets, so that its dashboards and alerts work.
///
/// | name (after `controller_runtime_`) | type | what |
/// |---|---|---|
/// | `reconcile_total` | counter | calls, by `result`: `success`, `requeue_after` (also of `NotYet`), `error` |
/// | `reconcile_errors_total` | counter | calls that failed, panics and deadlines included |
/// | `terminal_reconcile_errors_total` | counter | of these, those that are not retried |
/// | `reconcile_panics_total` | counter | of these, those that panicked |
/// | `reconcile_timeouts_total` | counter | of these, those that ran into their deadline |
/// | `reconcile_time_seconds` | histogram | how long calls took, waits in layers included |
/// | `max_concurrent_reconciles` | gauge | how many workers there are |
/// | `active_workers` | gauge | how many of them have a call under way just now |
///
/// All have the label `controller`. `reconcile_total{result="requeue"}` is there and stays 0:
/// controller-runtime's `Requeue: true` is an error here. Calls that a shutdown cut off are
/// counted nowhere, for they have no result.
///
/// One of these serves all controllers of a program; a clone is the same.
///
/// ```
/// use controller_core::worker::WorkerMetrics;
/// use prometheus_client::encoding::text::encode;
/// use prometheus_client::registry::Registry;
///
/// let metrics = WorkerMetrics::default(); // goes into `WorkerPool::metrics`
/// let mut registry = Registry::default();
/// metrics.register(&mut registry);
///
/// metrics.controller("greeter");
/// let mut text = String::new();
/// encode(&mut text, &registry)?;
/// assert!(text.contains(r#"controller_runtime_active_workers{controller="greeter"} 0"#));
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct WorkerMetrics(Arc<Families>);

/// The [`WorkerMetrics`] of one controller: what a
/// [`MetricsLayer`](super::layers::MetricsLayer) counts in.
#[derive(Clone, Debug)]
pub struct ControllerMetrics(Arc<Series>);

/// A call under way. It counts as active until it is dropped.
pub(super) struct Call {
    series: Arc<Series>,
    begun: Instant,
    ended: bool,
    _active: Arc<()>,
}

#[derive(Debug)]
struct Families {
    total: Family<WithResult, Counter>,
    errors: Family<OfController, Counter>,
    terminal_errors: Family<OfController, Counter>,
    panics: Family<OfController, Counter>,
    timeouts: Family<OfController, Counter>,
    time: Family<OfController, Histogram, fn() -> Histogram>,
    max_concurrent: Family<OfController, Gauge>,
    active: Family<OfController, Active>,
}

/// The metrics of one controller, found once: a call looks up nothing.
#[derive(Debug)]
struct Series {
    success: Counter,
    requeue_after: Counter,
    error: Counter,
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    timeouts: Counter,
    time: Histogram,
    max_concurrent: Gauge,
    active: Active,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfController {
    controller: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WithResult {
    controller: String,
    result: &'static str,
}

/// A gauge that is no number: it counts who holds its token when it is asked.
#[derive(Clone, Debug, Default)]
struct Active(Arc<Token>);

#[derive(Debug, Default)]
struct Token(Arc<()>);

/// controller-runtime's, in seconds.
const BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];

// === impl WorkerMetrics ===

impl WorkerMetrics {
    /// Makes them a part of `registry`. Once: a second call would show each twice. Their names
    /// are to be known everywhere, so give it the registry itself, not one with a prefix.
    pub fn register(&self, registry: &mut Registry) {
        let families = &self.0;
        let registry = registry.sub_registry_with_prefix("controller_runtime");
        registry.register(
            "reconcile",
            "Total number of reconciliations per controller",
            families.total.clone(),
        );
        registry.register(
            "reconcile_errors",
            "Total number of reconciliation errors per controller",
            families.errors.clone(),
        );
        registry.register(
            "terminal_reconcile_errors",
            "Total number of terminal reconciliation errors per controller",
            families.terminal_errors.clone(),
        );
        registry.register(
            "reconcile_panics",
            "Total number of reconciliation panics per controller",
            families.panics.clone(),
        );
        registry.register(
            "reconcile_timeouts",
            "Total number of reconciliation timeouts per controller",
            families.timeouts.clone(),
        );
        registry.register(
            "reconcile_time_seconds",
            "Length of time per reconciliation per controller",
            families.time.clone(),
        );
        registry.register(
            "max_concurrent_reconciles",
            "Maximum number of concurrent reconciles per controller",
            families.max_concurrent.clone(),
        );
        registry.register(
            "active_workers",
            "Number of currently used workers per controller",
            families.active.clone(),
        );
    }

    /// Those of the controller of this name, all zero from now on if they are new. The same
    /// name again is the same numbers.
    pub fn controller(&self, name: impl Into<String>) -> ControllerMetrics {
        let families = &self.0;
        let of = OfController {
            controller: name.into(),
        };
        let result = |result| {
            let controller = of.controller.clone();
            let labels = WithResult { controller, result };
            families.total.get_or_create_owned(&labels)
        };
        // Who adds up all results of a dashboard made for controller-runtime finds all.
        result("requeue");
        ControllerMetrics(Arc::new(Series {
            success: result("success"),
            requeue_after: result("requeue_after"),
            error: result("error"),
            errors: families.errors.get_or_create_owned(&of),
            terminal_errors: families.terminal_errors.get_or_create_owned(&of),
            panics: families.panics.get_or_create_owned(&of),
            timeouts: families.timeouts.get_or_create_owned(&of),
            time: families.time.get_or_create_owned(&of),
            max_concurrent: families.max_concurrent.get_or_create_owned(&of),
            active: families.active.get_or_create_owned(&of),
        }))
    }
}

// === impl ControllerMetrics ===

impl ControllerMetrics {
    pub(super) fn set_workers(&self, workers: usize) {
        let workers = i64::try_from(workers).unwrap_or(i64::MAX);
        self.0.max_concurrent.set(workers);
    }

    pub(super) fn begin(&self) -> Call {
        Call {
            series: Arc::clone(&self.0),
            begun: Instant::now(),
            ended: false,
            _active: Arc::clone(&self.0.active.0.0),
        }
    }
}

// === impl Call ===

impl Call {
    pub(super) fn end(mut self, answer: &Result<Outcome, ReconcileError>, fate: &Fate) {
        self.ended = true;
        let series = &self.series;
        match answer {
            Ok(Outcome::Done) => _ = series.success.inc(),
            Ok(Outcome::RequeueAfter(_) | Outcome::NotYet(_)) => _ = series.requeue_after.inc(),
            Err(error) => {
                series.count_error();
                if matches!(error, ReconcileError::Terminal(_)) {
                    series.terminal_errors.inc();
                }
                match fate.of(error) {
                    Some(GivenUp::Panicked) => _ = series.panics.inc(),
                    Some(GivenUp::DeadlineExceeded) => _ = series.timeouts.inc(),
                    None => {}
                }
            }
        }
        series.time.observe(self.begun.elapsed().as_secs_f64());
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // A layer further in panicked, and nothing between it and us makes an error of that.
        if !self.ended && thread::panicking() {
            self.series.count_error();
            self.series.panics.inc();
            let took = self.begun.elapsed();
            self.series.time.observe(took.as_secs_f64());
        }
    }
}

// === impl Families ===

impl Default for Families {
    fn default() -> Self {
        Self {
            total: Family::default(),
            errors: Family::default(),
            terminal_errors: Family::default(),
            panics: Family::default(),
            timeouts: Family::default(),
            time: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            max_concurrent: Family::default(),
            active: Family::default(),
        }
    }
}

// === impl Series ===

impl Series {
    fn count_error(&self) {
        self.error.inc();
        self.errors.inc();
    }
}

// === impl Active ===

impl EncodeMetric for Active {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let held = Arc::strong_count(&self.0.0) - 1;
        encoder.encode_gauge(&i64::try_from(held).unwrap_or(i64::MAX))
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl TypedMetric for Active {
    const TYPE: MetricType = MetricType::Gauge;
}
