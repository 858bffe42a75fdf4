//! [`Snapshot`](super::Snapshot) → the metrics that dashboards of controller-runtime show.
//!
//! Nothing is counted up and down beside the queue: a scrape reads the queue itself, once,
//! under its lock, and all that it shows is of that one instant. So no gauge can drift or fall
//! below zero, which controller-runtime's did (#3066), no task runs, and after a shutdown
//! nothing goes on counting.
mod exposition;
mod queue_metrics;
mod sample;

pub use queue_metrics::QueueMetrics;
