use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::client::ResourceType;
use crate::watch::{ReflectorStatus, State};

/// Tells the log when the first list is asked for and when the changes are followed.
///
/// What comes later the reflector tells: why it cannot go on, once for as long as that stays
/// the same, and that it watches again. A list because a version has expired, or a watch after
/// a watch, is no change of state to a person.
pub(super) async fn tell_states(
    resource: ResourceType,
    mut status: watch::Receiver<ReflectorStatus>,
    stop: CancellationToken,
) {
    let telling = async {
        let begun = |now: &ReflectorStatus| !matches!(now.state, State::Starting | State::Stopped);
        if status.wait_for(begun).await.is_ok() {
            tracing::info!(%resource, "listing");
        }
        if status.wait_for(|now| now.watched).await.is_ok() {
            tracing::info!(%resource, "watching");
        }
    };
    stop.run_until_cancelled(telling).await;
}
