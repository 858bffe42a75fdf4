use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::{EventHandler, Letter, Mailbox, deliver};
use crate::watch::Object;

/// The task of one handler: it empties the handler's mailbox, one entry at a time.
///
/// The only reader of that mailbox. A resync goes through the mailbox too, so that it keeps
/// its place among the events: an object must not be delivered again after its deletion.
pub(crate) struct Processor<T> {
    pub(crate) mailbox: Arc<Mailbox<T>>,
    pub(crate) handler: Arc<dyn EventHandler<T>>,
    /// Set once the handler has heard of everything that the first list brought.
    pub(crate) synced: watch::Sender<bool>,
    /// Shared with the handler's `Registration`, which reads it.
    pub(crate) panics: Arc<AtomicU64>,
    /// Cancelled when the handler is removed.
    pub(crate) removed: CancellationToken,
    /// How often every object of the cache is delivered again, `None` for never.
    pub(crate) resync: Option<Duration>,
}

// === impl Processor ===

impl<T: Object> Processor<T> {
    /// Runs until the handler is removed. `replay` puts every object of the cache into
    /// the mailbox, in order with what happens to the cache meanwhile.
    pub(crate) async fn run(self, replay: impl Fn(&Mailbox<T>) + Send) {
        let mut ticks = self.resync.map(|period| {
            let mut ticks = interval_at(Instant::now() + period, period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        });
        loop {
            let tick = async {
                match &mut ticks {
                    Some(ticks) => ticks.tick().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.removed.cancelled() => break,
                letter = self.mailbox.next() => match letter {
                    Some(letter) => self.open(&letter),
                    None => break,
                },
                _ = tick => {
                    // A handler that is behind has enough to do; the next tick will do.
                    if *self.synced.borrow() && self.mailbox.len() == 0 {
                        replay(&self.mailbox);
                    }
                }
            }
            tokio::task::consume_budget().await;
        }
        self.mailbox.close();
    }

    fn open(&self, letter: &Letter<T>) {
        match letter {
            Letter::Synced => {
                self.synced.send_replace(true);
            }
            Letter::Delta(delta) => {
                let call = AssertUnwindSafe(|| deliver(&*self.handler, delta));
                if catch_unwind(call).is_err() {
                    // A panic costs this one delivery, also of the first list: a handler
                    // that never counts as synced would stop the whole controller (BX-16).
                    self.panics.fetch_add(1, Ordering::Relaxed);
                    tracing::error!(key = %delta.key(), "event handler panicked");
                }
            }
        }
    }
}
