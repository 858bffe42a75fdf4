//! Waiting for a future, with as few steps as there can be.
//!
//! [`loom::future::block_on`] counts the references of a waker with one of loom's own counters,
//! and so tries each order in which wakers are cloned and dropped: many more than those of the
//! queue. Here that is the counter of the standard library, which the queue uses too.
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use loom::sync::Notify;

struct Waiting(Notify);

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waiting = Arc::new(Waiting(Notify::new()));
    let waker = Waker::from(Arc::clone(&waiting));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            // May also end without a reason, once: loom sees to that.
            Poll::Pending => waiting.0.wait(),
        }
    }
}

// === impl Waiting ===

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}
