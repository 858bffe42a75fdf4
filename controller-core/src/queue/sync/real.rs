use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) use parking_lot::Mutex;
pub(crate) use tokio::time::Instant;
use tokio::time::{Sleep, sleep_until};

/// The clock of the queue: tokio's, which tests can pause.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// One timer that can be set again and again. Its first use allocates; a `get` that
/// never waits for a deadline has none.
#[derive(Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

// === impl Timer ===

impl Timer {
    /// Is ready from `deadline` on, and wakes the task then.
    pub(crate) fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
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
