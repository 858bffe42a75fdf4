//! The worker pool: what becomes of keys, workers and log lines.
mod deadlines;
mod layers;
mod log;
mod metrics;
mod panics;
mod requests;
mod scripted;
mod settle;
mod shutdown;
mod spans;
