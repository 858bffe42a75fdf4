use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::sample::Sample;
use crate::handler::Band;
use crate::queue::Durations;

/// One metric: its name and its help, and how a queue's value of it is read.
struct Metric {
    name: &'static str,
    help: &'static str,
    value: Value,
}

enum Value {
    Counter(fn(&Sample) -> u64),
    Seconds(fn(&Sample) -> f64),
    Keys(fn(&Sample) -> usize),
    /// A series for each band.
    Bands(fn(&Sample) -> [(Band, usize); 2]),
    Histogram(fn(&Sample) -> &Durations),
}

/// Names, labels and buckets are controller-runtime's, as far as it has them.
const METRICS: [Metric; 9] = [
    Metric {
        name: "workqueue_depth",
        help: "Keys that want a worker.",
        value: Value::Bands(|it| it.dirty),
    },
    Metric {
        name: "workqueue_adds",
        help: "Keys that came to want a worker.",
        value: Value::Counter(|it| it.adds),
    },
    Metric {
        name: "workqueue_queue_duration_seconds",
        help: "How long keys wait for a worker.",
        value: Value::Histogram(|it| &it.queue_durations),
    },
    Metric {
        name: "workqueue_work_duration_seconds",
        help: "How long a worker has a key.",
        value: Value::Histogram(|it| &it.work_durations),
    },
    Metric {
        name: "workqueue_unfinished_work_seconds",
        help: "How long the keys that are in work have been so, together.",
        value: Value::Seconds(|it| it.unfinished.as_secs_f64()),
    },
    Metric {
        name: "workqueue_longest_running_processor_seconds",
        help: "How long the key that was taken first of those in work has been so.",
        value: Value::Seconds(|it| it.longest.as_secs_f64()),
    },
    Metric {
        name: "workqueue_retries",
        help: "Adds with a delay.",
        value: Value::Counter(|it| it.retries),
    },
    Metric {
        name: "controller_core_queue_delayed",
        help: "Keys that wait for a deadline.",
        value: Value::Keys(|it| it.delayed),
    },
    Metric {
        name: "controller_core_queue_refused",
        help: "Adds that came after the shutdown.",
        value: Value::Counter(|it| it.refused),
    },
];

/// Writes every metric once, with a series for each queue.
pub(super) fn encode(samples: &[Sample], mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
    for metric in &METRICS {
        let Metric { name, help, .. } = metric;
        let mut metric_encoder =
            encoder.encode_descriptor(name, help, None, metric.value.metric_type())?;
        for sample in samples {
            metric.value.encode(sample, &mut metric_encoder)?;
        }
    }
    Ok(())
}

/// controller-runtime's numbers for the two bands.
const fn priority(band: Band) -> &'static str {
    match band {
        Band::Live => "0",
        Band::Background => "-100",
    }
}

fn whole(keys: usize) -> i64 {
    i64::try_from(keys).unwrap_or(i64::MAX)
}

// === impl Value ===

impl Value {
    const fn metric_type(&self) -> MetricType {
        match self {
            Self::Counter(_) => MetricType::Counter,
            Self::Seconds(_) | Self::Keys(_) | Self::Bands(_) => MetricType::Gauge,
            Self::Histogram(_) => MetricType::Histogram,
        }
    }

    fn encode(&self, sample: &Sample, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        let labels = [("name", &*sample.name), ("controller", &*sample.controller)];
        match self {
            Self::Counter(value) => encoder
                .encode_family(&labels)?
                .encode_counter::<NoLabelSet, _, f64>(&value(sample), None),
            Self::Seconds(value) => encoder.encode_family(&labels)?.encode_gauge(&value(sample)),
            Self::Keys(value) => encoder
                .encode_family(&labels)?
                .encode_gauge(&whole(value(sample))),
            Self::Bands(value) => {
                let [name, controller] = labels;
                for (band, keys) in value(sample) {
                    let labels = [name, controller, ("priority", priority(band))];
                    encoder.encode_family(&labels)?.encode_gauge(&whole(keys))?;
                }
                Ok(())
            }
            Self::Histogram(value) => {
                let times = value(sample);
                let buckets: Vec<_> = times.buckets().collect();
                encoder
                    .encode_family(&labels)?
                    .encode_histogram::<NoLabelSet>(
                        times.sum().as_secs_f64(),
                        times.count(),
                        &buckets,
                        None,
                    )
            }
        }
    }
}
