//! The worker pool: what becomes of keys, workers and log lines.
mod layers;
mod log;
mod panics;
mod scripted;
mod settle;
mod shutdown;
