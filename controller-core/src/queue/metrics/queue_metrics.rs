use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::registry::Registry;

use super::exposition::encode;
use super::sample::Sample;
use crate::queue::WorkQueue;

/// The metrics of several queues, for a registry of the caller's. For a single queue there is
/// [`WorkQueue::register`].
///
/// | name | type | what |
/// |---|---|---|
/// | `workqueue_depth` | gauge | keys that want a worker: in line, or in work and added again. Label `priority`: `0` is the live band, `-100` the background band |
/// | `workqueue_adds_total` | counter | keys that came to want one; adds of keys that wanted one already are not counted |
/// | `workqueue_queue_duration_seconds` | histogram | how long keys waited for a worker |
/// | `workqueue_work_duration_seconds` | histogram | how long workers had them |
/// | `workqueue_unfinished_work_seconds` | gauge | how long the keys in work have been so, together |
/// | `workqueue_longest_running_processor_seconds` | gauge | the same of the one that was taken first |
/// | `workqueue_retries_total` | counter | adds with a delay that is not zero |
/// | `controller_core_queue_delayed` | gauge | keys that wait for a deadline |
/// | `controller_core_queue_refused_total` | counter | adds that came after the shutdown |
///
/// Every one has the labels `name` and `controller`. Those that begin with `workqueue` have
/// the names, labels and buckets of controller-runtime, so its dashboards show them. They are
/// read when scraped, all at one instant.
///
/// ```
/// use controller_core::queue::{QueueMetrics, WorkQueue};
/// use prometheus_client::encoding::text::encode;
/// use prometheus_client::registry::Registry;
///
/// let deployments: WorkQueue<String> = WorkQueue::new("deployments");
/// let nodes: WorkQueue<String> = WorkQueue::builder("nodes").controller("drain").build();
///
/// let metrics = QueueMetrics::default();
/// metrics.watch(&deployments);
/// metrics.watch(&nodes);
/// let mut registry = Registry::default();
/// metrics.register(&mut registry);
///
/// deployments.add("shop/web".to_owned());
/// let mut text = String::new();
/// encode(&mut text, &registry)?;
/// assert!(text.contains(
///     r#"workqueue_depth{name="deployments",controller="deployments",priority="0"} 1"#
/// ));
/// assert!(text.contains(r#"workqueue_adds_total{name="nodes",controller="drain"} 0"#));
/// # Ok::<(), std::fmt::Error>(())
/// ```
///
/// It keeps no queue alive: one that is gone is shown no more. A queue of the same name and
/// controller takes the place of the one before, so that a program may run its controller
/// again on the same registry. Its counters begin at zero then, as after a restart of the
/// process, which `rate` and `increase` of Prometheus make allowance for.
///
/// The dangerous mistake is to give two queues that live side by side one name and controller:
/// only the later one is shown.
#[derive(Clone, Default)]
pub struct QueueMetrics(Arc<Mutex<Vec<Watched>>>);

/// One queue. No two of a registry have the same labels: Prometheus refuses a scrape with two
/// such series as a whole.
struct Watched {
    name: Arc<str>,
    controller: Arc<str>,
    read: Read,
}

/// Reads one queue, if it still is.
type Read = Box<dyn Fn() -> Option<Sample> + Send + Sync>;

// === impl QueueMetrics ===

impl QueueMetrics {
    /// Adds a queue, also after [`register`](Self::register). From now on the queue notes
    /// when keys come and go, which takes three readings of the clock a key.
    pub fn watch<T: Clone + Eq + Hash + Send + 'static>(&self, queue: &WorkQueue<T>) {
        queue.shared.take_timestamps();
        let shared = Arc::downgrade(&queue.shared);
        let (name, controller) = queue.names();
        let labels = (Arc::clone(&name), Arc::clone(&controller));
        let watched = Watched {
            name,
            controller,
            read: Box::new(move || {
                let snapshot = shared
                    .upgrade()?
                    .update(|inner, clock| inner.state.snapshot_by(|_| Some(()), clock));
                let (name, controller) = labels.clone();
                Some(Sample::new(name, controller, &snapshot))
            }),
        };
        let mut all = self.0.lock();
        match all.iter_mut().find(|it| it.has_labels_of(&watched)) {
            Some(former) => *former = watched,
            None => all.push(watched),
        }
    }

    /// Makes them a part of `registry`. Once: a second call would show each twice.
    pub fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.clone()));
    }
}

impl Collector for QueueMetrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let samples: Vec<_> = self.0.lock().iter().filter_map(|it| (it.read)()).collect();
        encode(&samples, encoder)
    }
}

impl fmt::Debug for QueueMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueMetrics")
            .field("queues", &self.0.lock().len())
            .finish_non_exhaustive()
    }
}

// === impl Watched ===

impl Watched {
    fn has_labels_of(&self, other: &Self) -> bool {
        (&self.name, &self.controller) == (&other.name, &other.controller)
    }
}
