//! What the core of the queue takes from outside: a lock, a clock and a timer.
//!
//! `tests/queue_loom.rs` compiles the core against a module of the same shape that is
//! made of loom's parts, so that loom can try every interleaving.
use std::pin::Pin;
use std::task::{Context, Poll};

pub(super) use parking_lot::Mutex;
pub(super) use tokio::time::Instant;
use tokio::time::{Sleep, sleep_until};

/// The clock of the queue: tokio's, which tests can pause.
pub(super) fn now() -> Instant {
    Instant::now()
}

/// One timer that can be set again and again. Its first use allocates; a `get` that
/// never waits for a deadline has none.
#[derive(Default)]
pub(super) struct Timer(Option<Pin<Box<Sleep>>>);

// === impl Timer ===

impl Timer {
    /// Is ready from `deadline` on, and wakes the task then.
    pub(super) fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = match &mut self.0 {
            Some(sleep) => {
                if sleep.deadline() != deadline {
                    sleep.as_mut().reset(deadline);
                }
                sleep
            }
            None => self.0.insert(Box::pin(sleep_until(deadline))),
        };
        sleep.as_mut().poll(cx)
    }
}
