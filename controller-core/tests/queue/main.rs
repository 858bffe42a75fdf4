//! The work queue, through its public face. The rules themselves are held against a
//! model in `src/queue/tests`, the races in `tests/loom_queue`.
mod bands;
mod basics;
mod delays;
mod limiters;
mod metrics;
mod shutdown;
mod timestamps;
mod wakes;
