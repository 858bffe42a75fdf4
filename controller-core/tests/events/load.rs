//! Many events: who records is never held up, and what is kept is bounded.

use controller_core::write::events::DropReason;
use sim_apiserver::faults::{Action, Rule};
use tokio::time::Instant;

use crate::bed::{Bed, about, creates, minutes, raised};

/// EV-10: a thousand at once, each failing four times; none is dropped.
#[tokio::test(start_paused = true)]
async fn a_thousand_events_that_fail_are_all_written() {
    let mut bed = Bed::new().await;
    bed.server
        .faults()
        .add(creates(Rule::new(Action::Reset)).attempts(1..=4000));
    for pod in 0..1000 {
        bed.recorder.record(about(&format!("foo-{pod}")));
    }
    bed.pass(minutes(2)).await;
    let counts = bed.stop().await;
    assert_eq!((counts.written, counts.dropped_total()), (1000, 0));
    assert_eq!((bed.events().len(), counts.requests), (1000, 5000));
}

/// The caller runs in the same thread as the writer and the server here: if `record` waited
/// for either of them it would wait for ever.
#[tokio::test(start_paused = true)]
async fn a_stalled_server_holds_up_nobody() {
    let mut bed = Bed::new().await;
    bed.server.faults().add(creates(Rule::new(Action::Hang)));
    bed.record(raised("one"), 1).await;
    let start = Instant::now();
    for pod in 0..10_000 {
        bed.recorder.record(about(&format!("pod-{pod}")));
        bed.recorder.record(raised("again"));
    }
    assert_eq!(start.elapsed(), minutes(0));
    let counts = bed.recorder.counts();
    assert_eq!(counts.dropped(DropReason::BufferFull), 10_000 - 999);
    // The repeats need no place.
    assert_eq!(counts.unwritten(), 1 + 999 + 10_000);
    bed.stop().await;
}
