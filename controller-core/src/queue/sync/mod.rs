//! What the core of the queue takes from outside: a lock, a clock and a timer.
//!
//! Compiled with `--cfg queue_loom` they are loom's, and all that uses the queue uses these:
//! so `tests/loom_queue` tries every interleaving of the queue itself, and not of a copy of
//! its source. The cfg has a name of its own because `cfg(loom)` is taken: it removes tokio's
//! network types, without which this crate does not compile.
#[cfg(queue_loom)]
mod model;
#[cfg(not(queue_loom))]
mod real;

#[cfg(queue_loom)]
pub(super) use model::{Instant, Mutex, Timer, now};
#[cfg(queue_loom)]
pub use model::{advance, reset};
#[cfg(not(queue_loom))]
pub(super) use real::{Instant, Mutex, Timer, now};
