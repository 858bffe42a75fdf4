//! How much is kept, whatever happens.

use super::script::{FAILED, Script, WRITTEN, event, minutes, seconds};
use crate::write::events::DropReason;
use crate::write::events::plan::{Observed, Outcome, Write, WriteKind};

#[test]
fn a_thousand_events_wait_and_the_next_is_dropped() {
    let mut script = Script::new();
    for pod in 0..1000 {
        script.record(event(&format!("pod-{pod}"), "Failed"));
    }
    let full = Observed::Dropped(DropReason::BufferFull);
    assert_eq!(script.record(event("one-too-many", "Failed")), full);
    // What only counts needs no place.
    assert_eq!(script.record(event("pod-7", "Failed")), Observed::Counted);
    // Sleeping and being with the server is waiting too.
    let with_server = script.plan.next().unwrap();
    script.work(FAILED);
    assert_eq!(script.record(event("one-too-many", "Failed")), full);
    script.answer(&with_server, Outcome::Written);
    assert_eq!(
        script.record(event("there-is-room", "Failed")),
        Observed::Queued
    );
    assert_eq!(script.counts().dropped(DropReason::BufferFull), 2);
}

/// A full buffer takes no share from the object whose event it cannot take.
#[test]
fn a_full_buffer_costs_no_share() {
    let mut script = Script::new();
    for pod in 0..1000 {
        script.record(event(&format!("pod-{pod}"), "Failed"));
    }
    for _ in 0..100 {
        script.record(event("web", "Failed"));
    }
    script.work(WRITTEN);
    assert_eq!(script.record(event("web", "Failed")), Observed::Queued);
}

#[test]
fn the_quietest_of_4096_series_makes_room() {
    let mut script = Script::new();
    let mut sent = Vec::new();
    for pod in 0..4097 {
        let name = format!("pod-{pod}");
        script.record(event(&name, "Failed"));
        sent.extend(script.work(WRITTEN));
        if pod < 2 {
            // Two repeats: of the second the server does not know.
            script.record(event(&name, "Failed"));
            script.work(WRITTEN);
            script.record(event(&name, "Failed"));
        }
        if pod == 4000 {
            // No longer the quietest.
            script.record(event("pod-0", "Failed"));
        }
    }
    // The last count of what had to go was told first.
    assert_eq!(sent[4096..], ["create pod-4096 x1", "patch pod-1 x3"]);
    script.record(event("pod-0", "Failed"));
    script.record(event("pod-1", "Failed"));
    assert_eq!(script.work(WRITTEN), ["create pod-1 x1"]);
}

/// Creates are written, patches have no answer: the series that cannot be finished do not
/// pile up.
#[test]
fn series_that_cannot_be_finished_are_given_up() {
    let mut script = Script::new();
    let flaky = |write: &Write| match write.kind {
        WriteKind::Create { .. } => Outcome::Written,
        WriteKind::Patch(_) => Outcome::Failed { lost: false },
    };
    for pod in 0..5000 {
        for _ in 0..2 {
            script.record(event(&format!("pod-{pod}"), "Failed"));
        }
        script.work(flaky);
        script.record(event(&format!("pod-{pod}"), "Failed"));
    }
    let counts = script.counts();
    assert_eq!(counts.dropped(DropReason::GivenUp), 5000 - 4096);
    assert_eq!(counts.unwritten(), 4096);
}

/// An idle recorder wants nothing.
#[test]
fn nothing_is_due_when_nothing_is_known() {
    let mut script = Script::new();
    assert_eq!(script.plan.due(), None);
    script.record(event("web", "Failed"));
    script.work(WRITTEN);
    assert_eq!(script.plan.due(), Some(minutes(6)));
    script.pass(minutes(12) + seconds(1), WRITTEN);
    assert_eq!(script.plan.due(), None);
}
