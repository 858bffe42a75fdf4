use kube::Client;
use tokio::time::{Duration, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::hold::Hold;
use super::informers::{is_followed, refusal};
use super::served::{has_appeared, has_gone};
use super::told_states::tell_states;
use crate::informer::SharedInformer;
use crate::watch::{Object, ReflectorStatus, State};

/// How often a server is asked again for a kind that it did not have. A few hundred bytes.
const LOOK_AGAIN: Duration = Duration::from_secs(120);

/// A kind that decisions look at and that the server did not have at the start: whoever
/// installs KEDA does not think of restarting this.
pub(super) struct NotYetServed<T> {
    pub(super) client: Client,
    /// Not started: its cache is empty, which is what the server has.
    pub(super) informer: SharedInformer<T>,
}

// === impl NotYetServed ===

impl<T: Object> NotYetServed<T> {
    /// Looks again and again, and follows the kind from when it is there, until `stop`. From
    /// then until its first list has been read, nothing is decided.
    pub(super) async fn follow(self, hold: Hold, stop: CancellationToken) {
        let appears = async {
            loop {
                sleep(LOOK_AGAIN).await;
                if has_appeared(&self.client, self.informer.resource()).await {
                    return;
                }
            }
        };
        if stop.run_until_cancelled(appears).await.is_none() {
            return;
        }
        hold.set(true);
        tracing::warn!(
            "the server has {} by now: nothing is raised until they have been read",
            self.informer.resource()
        );
        // The end waits for no answer, and leaves it held: the last keys would be decided
        // blindly.
        let holding = stop.run_until_cancelled(self.hold_until_read(&hold));
        let (resource, status) = (self.informer.resource().clone(), self.informer.status());
        tokio::join!(
            tell_states(resource, status, stop.clone()),
            self.informer.run(stop.clone()),
            holding
        );
    }

    /// A kind that may not be listed holds until it may be, or until it is gone again: not
    /// to know of its objects is not that there are none.
    async fn hold_until_read(&self, hold: &Hold) {
        let resource = self.informer.resource();
        let mut status = self.informer.status();
        loop {
            let read = async {
                let stopped = |it: &ReflectorStatus| matches!(it.state, State::Stopped);
                let read = |it: &ReflectorStatus| is_followed(it) && refusal(it).is_none();
                let settled = status.wait_for(|it| stopped(it) || read(it)).await;
                settled.is_ok_and(|it| read(&it))
            };
            match timeout(LOOK_AGAIN, read).await {
                Ok(true) => break tracing::info!("{resource} have been read"),
                // The end came first.
                Ok(false) => return,
                Err(_) => hold.set(!has_gone(&self.client, resource).await),
            }
        }
        hold.set(false);
    }
}
