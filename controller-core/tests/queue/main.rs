//! The work queue, through its public face. The rules themselves are held against a
//! model in `src/queue/tests`, the races in `tests/loom_queue`.
mod bands;
mod basics;
mod bucket;
mod delays;
mod jitter;
mod limiters;
mod metrics;
mod refused_limiters;
mod shutdown;
mod timestamps;
mod views;
mod wakes;
