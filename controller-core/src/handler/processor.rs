use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{EventHandler, Letter, Mailbox, Pace, deliver};
use crate::watch::Object;

/// One handler, its mailbox, and the loop that empties it, one entry at a time.
///
/// The loop is the only reader of that mailbox. A resync goes through the mailbox too, so
/// that it keeps its place among the events: an object must not be delivered again after its
/// deletion.
pub(crate) struct Processor<T> {
    mailbox: Mailbox<T>,
    handler: Arc<dyn EventHandler<T>>,
    /// Set once the handler has heard of everything that the first list brought.
    synced: watch::Sender<bool>,
    panics: AtomicU64,
    removed: CancellationToken,
    /// How often every object of the cache is delivered again, `None` for never.
    resync: Option<Duration>,
}

// === impl Processor ===

impl<T: Object> Processor<T> {
    pub(crate) fn new(
        handler: Arc<dyn EventHandler<T>>,
        buffer: usize,
        resync: Option<Duration>,
    ) -> Self {
        Self {
            mailbox: Mailbox::new(buffer),
            handler,
            synced: watch::Sender::new(false),
            panics: AtomicU64::new(0),
            removed: CancellationToken::new(),
            resync,
        }
    }

    /// Runs until `stop`, or until the handler is removed. May be called again when it has
    /// returned; what was not delivered by then is delivered next time.
    ///
    /// `replay` puts every object of the cache into the mailbox, in order with what happens
    /// to the cache meanwhile.
    pub(crate) async fn run(&self, stop: CancellationToken, replay: impl Fn(&Mailbox<T>) + Send) {
        // What no clock can tell never comes.
        let next_resync = || Instant::now().checked_add(self.resync?);
        let mut resync_at = next_resync();
        loop {
            let tick = async {
                match resync_at {
                    Some(time) => sleep_until(time).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                letter = self.mailbox.next() => match letter {
                    Some(letter) => {
                        self.open(&letter);
                        self.mailbox.done();
                        // Due while there was something to hear: left out.
                        if resync_at.is_some_and(|time| time <= Instant::now()) {
                            resync_at = next_resync();
                        }
                    }
                    None => break,
                },
                () = tick => {
                    resync_at = next_resync();
                    if self.has_synced() {
                        replay(&self.mailbox);
                    }
                }
            }
            tokio::task::consume_budget().await;
        }
    }

    /// Ends it for good. The call under way goes on.
    pub(crate) fn remove(&self) {
        self.removed.cancel();
        self.mailbox.close();
    }

    /// Cancelled by [`remove`](Self::remove).
    pub(crate) fn removed(&self) -> &CancellationToken {
        &self.removed
    }

    pub(crate) fn mailbox(&self) -> &Mailbox<T> {
        &self.mailbox
    }

    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.handler.name()
    }

    pub(crate) fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    pub(crate) fn synced(&self) -> watch::Receiver<bool> {
        self.synced.subscribe()
    }

    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    pub(crate) fn pace(&self) -> Pace {
        self.mailbox.pace()
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
                    let handler = &*self.handler.name();
                    tracing::error!(key = %delta.key(), handler, "event handler panicked");
                }
            }
        }
    }
}
