use controller_core::client::ObjectKey;
use controller_core::write::events::{Event, EventCounts, EventRecorder, ObjectReference};
use insta::assert_snapshot;

use super::*;
use crate::out::sample::*;

#[test]
fn a_pass_is_summed_up_in_the_same_words() {
    let mut pass = pass(vec![
        failed("api", no_space("api")),
        autoscaled("db"),
        satisfied("queue"),
        raised("web", 1),
    ]);
    assert_snapshot!(pass_summary(&pass), @"Reconciled 4 Deployments in 3.1s: 1 raised, 1 failed, 1 skipped, 1 already satisfied");
    pass.missing = vec![ObjectKey::namespaced("shop", "nope")];
    assert_snapshot!(pass_summary(&pass), @"Reconciled 5 Deployments in 3.1s: 1 raised, 1 failed, 1 skipped, 1 already satisfied, 1 not found");
}

#[test]
fn a_dry_run_is_never_mistaken_for_the_real_one() {
    for (dry_run, said) in [
        (DryRun::Client, "(dry run)"),
        (DryRun::Server, "(server dry run)"),
    ] {
        let mut pass = pass(vec![would_raise("web", dry_run)]);
        pass.dry_run = dry_run;
        let line = pass_summary(&pass);
        assert!(line.ends_with(said), "{line}");
        assert!(line.contains("would raise 1"), "{line}");
    }
}

#[test]
fn an_interrupted_pass_says_so() {
    let reason = controller_core::controllers::min_replicas::Reason::Raise { from: 1, to: 2 };
    let effect = controller_core::controllers::min_replicas::Effect::NotSent;
    let mut pass = pass(vec![raised("api", 1), verdict("web", reason, effect)]);
    pass.interrupted = true;
    pass.not_looked_at = 4;
    assert_snapshot!(pass_summary(&pass), @"Interrupted: reconciled 1 Deployment in 3.1s: 1 raised, 0 failed, 0 skipped, 0 already satisfied, 1 not sent, 4 not looked at");
}

#[test]
fn a_pass_that_timed_out_says_so_unless_a_signal_came_too() {
    let mut pass = pass(vec![raised("api", 1)]);
    pass.timed_out = Some(Duration::from_secs(90));
    pass.not_looked_at = 4;
    assert_snapshot!(pass_summary(&pass), @"Timed out: reconciled 1 Deployment in 3.1s: 1 raised, 0 failed, 0 skipped, 0 already satisfied, 4 not looked at");
    pass.interrupted = true;
    assert!(pass_summary(&pass).starts_with("Interrupted: reconciled 1 "));
}

#[test]
fn a_run_is_summed_up_when_it_stops() {
    let tally = Tally {
        raised: 7,
        would_raise: 3,
        failing: 1,
    };
    let mut left = RunSummary {
        synced: true,
        completed: true,
        reconciled: 400,
        dropped_delayed: 0,
        abandoned: 0,
        abandoned_in_work: 0,
        unanswered: 0,
        events: EventCounts::NONE,
    };
    let after = Duration::from_secs(3723);
    assert_snapshot!(run_summary(&tally, &left, after, DryRun::None), @"Stopped after 1h2m3s: 7 raised, 1 failing");
    assert_snapshot!(run_summary(&tally, &left, after, DryRun::Client), @"Stopped after 1h2m3s: would raise 3, 1 failing (dry run)");
    left.dropped_delayed = 1;
    left.abandoned = 12;
    left.abandoned_in_work = 2;
    assert_snapshot!(run_summary(&tally, &left, Duration::from_secs(90), DryRun::None), @"Stopped after 1m30s: 7 raised, 1 failing, 1 waiting to be tried again, 2 cut off, 10 not looked at");
    left.synced = false;
    assert_snapshot!(run_summary(&tally, &left, Duration::from_secs(39), DryRun::None), @"Stopped after 39.0s, before the first lists were read");
}

#[test]
fn events_that_were_not_written_are_told_with_their_reasons() {
    let counts = |dropped: usize| {
        let (recorder, _unread) = EventRecorder::fake(1);
        for _ in 0..=dropped {
            let web = ObjectReference::default();
            recorder.record(Event::normal(web, "Raised", "Scale", "scaled from 1 to 2"));
        }
        recorder.counts()
    };
    assert_eq!(unwritten_events(&counts(0)), None);
    assert_snapshot!(unwritten_events(&counts(1)).unwrap(), @"1 event not written: 1 buffer_full");
    assert_snapshot!(unwritten_events(&counts(3)).unwrap(), @"3 events not written: 3 buffer_full");
}
