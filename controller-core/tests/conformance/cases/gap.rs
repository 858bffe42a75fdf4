use std::time::Duration;

use controller_core::watch::{ReflectorStatus, State, Streaming};
use sim_apiserver::faults::{Action, Rule};

use crate::server::{Server, first_watch, lists, nth_watch};
use crate::watch_of::Informed;

/// Time in which a client is told nothing. Its watch ends, the version that it goes on from has
/// expired, and the list that it needs takes its time.
///
/// Made before the client starts, whose first list will have `listed` objects.
pub(crate) fn prepare(server: &Server, streaming: Streaming, listed: u64) {
    let faults = server.faults();
    faults.add(first_watch(streaming, listed, 1, Action::cut_after_events));
    faults.add(nth_watch(streaming, 2, Rule::new(Action::Expired)));
    let late = Rule::new(Action::Delay(Duration::from_secs(1)));
    faults.add(lists(streaming, late).attempts(2));
}

/// Lets the client miss what is done in `unseen`. It hears of one more object before, `trigger`.
pub(crate) async fn miss(server: &Server, informed: &Informed, unseen: impl AsyncFnOnce()) {
    informed.watching().await;
    server.put("trigger", "1").await;
    let backs_off = |now: &ReflectorStatus| matches!(now.state, State::BackingOff { .. });
    informed.status_until(backs_off).await;
    unseen().await;
    assert_eq!(informed.informer.status().borrow().lists, 1, "too late");
    informed.status_until(|now| now.lists == 2).await;
}
