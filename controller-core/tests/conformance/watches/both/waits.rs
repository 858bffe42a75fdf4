use std::time::Duration;

use controller_core::watch::{Streaming, WatchOptions};
use sim_apiserver::faults::{Action, Rule};

use crate::requests::of_list_and_watch;
use crate::server::{Server, first_watch, watches};

/// The waits of who wants to be through with it: 0.2 s, and 0.4 s from the second on, or from
/// the first denial on.
pub(super) fn short(options: WatchOptions) -> WatchOptions {
    options.backoff(Duration::from_millis(200), Duration::from_millis(400))
}

/// A watch that ends after one event, and `refused` in place of the watches after it: so many.
pub(super) fn then_refuse(server: &Server, streaming: Streaming, refused: Action, times: u64) {
    server
        .faults()
        .add(first_watch(streaming, 0, 1, Action::cut_after_events));
    let second = of_list_and_watch(streaming) as u64;
    let refused = watches(Rule::new(refused));
    server
        .faults()
        .add(refused.attempts(second..second + times));
}
