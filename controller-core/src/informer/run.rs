use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};
use tokio::time::{Duration, Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use super::distributor::Distributor;
use super::slot::Slot;
use crate::client::ResourceType;
use crate::handler::Turn;
use crate::watch::Object;

/// The handlers' side of one run: a task for each handler, also for those that join later.
///
/// Dropping it ends the tasks at the end of their calls, and leaves the handlers and what
/// they have not heard to the next run.
pub(super) struct Run<'a, T> {
    pub(super) resource: &'a ResourceType,
    pub(super) distributor: &'a Arc<Distributor<T>>,
    /// How long the end waits for calls that are under way.
    pub(super) stop_within: Duration,
}

// === impl Run ===

impl<T: Object> Run<'_, T> {
    /// How often it is looked which handlers are slow. They cannot tell so themselves.
    const LOOK: Duration = Duration::from_secs(1);

    /// Lets the handlers hear until `watching` is over, then waits for their last calls.
    pub(super) async fn until(&self, watching: impl Future<Output = ()>) {
        let (mut tasks, stop) = (JoinSet::new(), CancellationToken::new());
        // An aborted task ends where it next waits, and a full mailbox makes nobody wait.
        let _ends_with_us = stop.clone().drop_guard();
        let mut looks = interval_at(Instant::now() + Self::LOOK, Self::LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut watching = std::pin::pin!(watching);
        loop {
            self.start_readers(&mut tasks, &stop);
            tokio::select! {
                biased;
                () = self.distributor.changed().notified() => {}
                Some(ended) = tasks.join_next() => unharmed(ended),
                _ = looks.tick() => self.tell_who_is_slow(),
                () = &mut watching => break,
            }
        }
        stop.cancel();
        let all_ended = async {
            while let Some(ended) = tasks.join_next().await {
                unharmed(ended);
            }
        };
        if timeout(self.stop_within, all_ended).await.is_err() {
            self.tell_who_hangs();
        }
    }

    fn start_readers(&self, tasks: &mut JoinSet<()>, stop: &CancellationToken) {
        for reading in self.distributor.unread() {
            let (distributor, stop) = (Arc::clone(self.distributor), stop.clone());
            tasks.spawn(async move {
                let processor = &reading.0.processor;
                processor
                    .run(stop, |mailbox| distributor.replay(mailbox))
                    .await;
            });
        }
    }

    fn tell_who_is_slow(&self) {
        let resource = self.resource;
        for slot in self.distributor.slots() {
            let Some((turn, pace)) = slot.look() else {
                continue;
            };
            let (handler, pending) = (&*slot.processor.name(), pace.pending);
            match turn {
                Turn::FellBehind => tracing::warn!(
                    %resource, handler, pending, lag = ?pace.lag, longest_call = ?pace.longest_call,
                    "event handler is slow"
                ),
                Turn::CaughtUp { after } => {
                    tracing::info!(%resource, handler, pending, ?after, "event handler has caught up");
                }
            }
        }
    }

    fn tell_who_hangs(&self) {
        let hanging = |slot: &Arc<Slot<T>>| slot.is_read();
        for slot in self.distributor.slots().into_iter().filter(hanging) {
            let (resource, handler) = (self.resource, &*slot.processor.name());
            tracing::error!(
                %resource, handler, after = ?self.stop_within,
                "event handler hangs; the informer ends without it"
            );
        }
    }
}

/// A handler's panic is caught where it is called. Another one is a bug of ours, and a cache
/// whose handlers hear nothing would look well.
fn unharmed(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        resume_unwind(error.into_panic());
    }
}
