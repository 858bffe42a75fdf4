use std::num::NonZeroU32;

use tokio::sync::watch;
use tokio::time::{Duration, sleep};
use tokio_util::sync::CancellationToken;

/// Whoever is labelled by mistake is not labelled alone: so the line that says how many wait
/// comes a moment after the first of them.
const SETTLE: Duration = Duration::from_secs(1);

/// The shortest time between two lines.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// Says how many Deployments wait for their turn, for as long as any do, until `stop`.
pub(super) async fn tell_how_many_wait(
    mut waiting: watch::Receiver<usize>,
    limit: NonZeroU32,
    stop: CancellationToken,
) {
    let telling = async {
        while waiting.wait_for(|waiting| *waiting > 0).await.is_ok() {
            sleep(SETTLE).await;
            let count = *waiting.borrow();
            if count > 0 {
                let wait = if count == 1 { " waits" } else { "s wait" };
                let are = if limit.get() == 1 { "is" } else { "are" };
                tracing::warn!(
                    waiting = count,
                    "{count} Deployment{wait} to be raised: at most {limit} {are} raised in a minute"
                );
                sleep(BETWEEN_LINES).await;
            }
        }
    };
    stop.run_until_cancelled(telling).await;
}
