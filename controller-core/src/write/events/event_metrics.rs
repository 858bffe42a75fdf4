use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::shared::Shared;
use super::{DropReason, EventCounts};

/// An [`EventWriter`](super::EventWriter)'s [`EventCounts`], for a registry of the caller's.
///
/// | name | type | labels | what |
/// |---|---|---|---|
/// | `events_recorded_total` | counter | | calls of `record` |
/// | `events_written_total` | counter | | of these, how many the server was told of |
/// | `events_dropped_total` | counter | `reason` | of these, how many it will never be told of, by [`DropReason`] |
/// | `events_unwritten` | gauge | | the rest, which wait |
/// | `event_requests_total` | counter | | requests that were begun |
///
/// Before them stands the prefix of the registry, if it has one. They are read when they are
/// asked for, and are those of the writer that was given them last: all zero before there is
/// one, and from zero again with the next. A clone is the same.
///
/// ```
/// use controller_core::write::events::{EventMetrics, EventWriter};
/// use prometheus_client::encoding::text::encode;
/// use prometheus_client::registry::Registry;
///
/// # fn example(client: kube::Client) -> EventWriter {
/// let metrics = EventMetrics::default();
/// let mut registry = Registry::default();
/// metrics.register(registry.sub_registry_with_prefix("example"));
///
/// let mut text = String::new();
/// encode(&mut text, &registry).expect("a String takes everything");
/// assert!(text.contains("example_events_dropped_total{reason=\"refused\"} 0"));
///
/// EventWriter::new(client, "example").metrics(&metrics)
/// # }
/// ```
#[derive(Clone, Default)]
pub struct EventMetrics {
    writer: Arc<Mutex<Option<Arc<Shared>>>>,
}

// === impl EventMetrics ===

impl EventMetrics {
    /// Makes them a part of `registry`. Once: a second call would show each twice.
    pub fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.clone()));
    }

    pub(super) fn follow(&self, writer: Arc<Shared>) {
        *self.writer.lock() = Some(writer);
    }

    fn counts(&self) -> EventCounts {
        let writer = self.writer.lock().clone();
        writer.map_or(EventCounts::NONE, |writer| writer.plan().counts())
    }
}

impl Collector for EventMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let counts = self.counts();
        for (name, help, count) in [
            (
                "events_recorded",
                "Events that were recorded",
                counts.recorded,
            ),
            (
                "events_written",
                "Recorded events that the server was told of",
                counts.written,
            ),
            ("event_requests", "Requests for events", counts.requests),
        ] {
            let counter = ConstCounter::new(count);
            counter.encode(encoder.encode_descriptor(
                name,
                help,
                None,
                counter.metric_type(),
            )?)?;
        }
        let unwritten = ConstGauge::new(counts.unwritten());
        let help = "Recorded events that wait";
        let kind = unwritten.metric_type();
        unwritten.encode(encoder.encode_descriptor("events_unwritten", help, None, kind)?)?;
        let help = "Recorded events that the server is never told of";
        let dropped =
            encoder.encode_descriptor("events_dropped", help, None, MetricType::Counter)?;
        encode_dropped(dropped, &counts)
    }
}

fn encode_dropped(mut family: MetricEncoder<'_>, counts: &EventCounts) -> fmt::Result {
    for reason in DropReason::ALL {
        let labels = [("reason", reason.as_str())];
        ConstCounter::new(counts.dropped(reason)).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

impl fmt::Debug for EventMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventMetrics").field(&self.counts()).finish()
    }
}
