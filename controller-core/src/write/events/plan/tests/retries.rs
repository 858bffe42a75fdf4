//! What is sent again, how often and when, and the end.

use std::time::Duration;

use super::script::{FAILED, REFUSED, Script, WRITTEN, event, line, minutes, seconds};
use crate::write::events::DropReason;
use crate::write::events::plan::{Observed, Outcome, Write, WriteKind};

const LOST: fn(&Write) -> Outcome = |_| Outcome::Failed { lost: true };

fn recorded() -> Script {
    let mut script = Script::new();
    script.record(event("web", "Failed"));
    script
}

/// EV-05.
#[test]
fn a_refused_event_is_tried_once_and_forgotten() {
    let mut script = recorded();
    assert_eq!(script.pass(minutes(60), REFUSED), ["create web x1"]);
    assert_eq!(script.counts().dropped(DropReason::Refused), 1);
    // client-go would patch what was never made.
    script.record(event("web", "Failed"));
    assert_eq!(script.work(WRITTEN), ["create web x1"]);
}

/// EV-06: twelve tries, 10 s apart.
#[test]
fn an_event_without_an_answer_is_tried_twelve_times() {
    let mut script = recorded();
    let mut times = Vec::new();
    for _ in 0..300 {
        let tries = script.work(FAILED).len();
        times.extend(std::iter::repeat_n(script.elapsed.as_secs(), tries));
        script.elapsed += seconds(1);
    }
    assert_eq!(times, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110]);
    assert_eq!(script.counts().dropped(DropReason::GivenUp), 1);
    assert_eq!(script.plan.due(), None);
}

/// The factor of `wait.Jitter(10 s, 0.25)`.
#[test]
fn a_wait_is_10_to_12_and_a_half_seconds() {
    for (jitter, expected) in [(0.0, 10.0), (0.5, 11.25), (1.0, 12.5)] {
        let mut script = recorded();
        let write = script.plan.next().unwrap();
        let failed = Outcome::Failed { lost: false };
        script
            .plan
            .answered(&write.key, failed, script.at(), jitter);
        assert_eq!(script.plan.due(), Some(Duration::from_secs_f64(expected)));
    }
}

/// EV-07.
#[test]
fn an_event_that_fails_once_is_written_at_the_second_try() {
    let mut script = recorded();
    let mut tries = 0;
    let sent = script.pass(minutes(1), |_| {
        tries += 1;
        match tries {
            1 => Outcome::Failed { lost: false },
            _ => Outcome::Written,
        }
    });
    assert_eq!(sent, ["create web x1", "create web x1"]);
    assert_eq!((script.counts().written, script.counts().requests), (1, 2));
}

/// EV-10: 1000 distinct events, each failing four times. None is dropped, and each has five
/// tries.
#[test]
fn a_thousand_failing_events_are_all_written() {
    let mut script = Script::new();
    for pod in 0..1000 {
        let observed = script.record(event(&format!("foo-{pod}"), "Reason"));
        assert_eq!(observed, Observed::Queued);
    }
    let mut tries = vec![0; 1000];
    script.pass(minutes(10), |write| {
        let name = &write.key.recorded().event.regarding().name;
        let pod: usize = name["foo-".len()..].parse().unwrap();
        tries[pod] += 1;
        if tries[pod] < 5 {
            FAILED(write)
        } else {
            WRITTEN(write)
        }
    });
    assert!(tries.iter().all(|tries| *tries == 5), "{tries:?}");
    let counts = script.counts();
    assert_eq!((counts.written, counts.dropped_total()), (1000, 0));
}

/// EV-08: the event expired before its series was told of.
#[test]
fn a_vanished_event_is_made_anew_with_its_count() {
    let mut script = recorded();
    script.work(WRITTEN);
    script.record(event("web", "Failed"));
    let patch = script.plan.next().unwrap();
    script.answer(&patch, Outcome::Vanished);
    let create = script.plan.next().unwrap();
    assert_eq!(line(&create), "create web x2");
    assert_eq!(create.name, patch.name);
    script.answer(&create, Outcome::Written);
    assert_eq!(script.counts().written, 2);
}

/// The create was carried out, its answer was lost: the second one finds it. client-go
/// takes that for a refusal.
#[test]
fn a_create_whose_answer_was_lost_is_ours() {
    let mut script = recorded();
    assert_eq!(script.work(LOST), ["create web x1"]);
    let sent = script.pass(seconds(10), |_| Outcome::Exists);
    assert_eq!(sent, ["create web x1"]);
    assert_eq!(
        (script.counts().written, script.counts().dropped_total()),
        (1, 0)
    );
    script.record(event("web", "Failed"));
    assert_eq!(script.work(WRITTEN), ["patch web x2"]);
}

/// The same with repeats in between: which count the server has is not known, so that it is
/// told.
#[test]
fn what_repeats_behind_a_lost_answer_is_told() {
    let mut script = recorded();
    script.work(LOST);
    script.record(event("web", "Failed"));
    script.record(event("web", "Failed"));
    let sent = script.pass(seconds(10), |write| match write.kind {
        WriteKind::Create { .. } => Outcome::Exists,
        WriteKind::Patch(_) => Outcome::Written,
    });
    assert_eq!(sent, ["create web x3", "patch web x3"]);
    assert_eq!(script.counts().written, 3);
}

/// Another process made an event of that name.
#[test]
fn a_name_that_is_taken_is_changed() {
    let mut script = recorded();
    let first = script.plan.next().unwrap();
    script.answer(&first, Outcome::Exists);
    script.plan.tick(script.at());
    let second = script.plan.next().unwrap();
    assert_ne!(first.name, second.name);
    script.answer(&second, Outcome::Written);
    assert_eq!(script.counts().written, 1);
}

/// A server that takes back what it said costs the tries of an event, and no more.
#[test]
fn an_event_that_is_there_and_not_there_is_given_up() {
    let mut script = recorded();
    script.work(WRITTEN);
    script.record(event("web", "Failed"));
    let sent = script.pass(minutes(10), |write| match write.kind {
        WriteKind::Create { .. } => Outcome::Exists,
        WriteKind::Patch(_) => Outcome::Vanished,
    });
    // Twelve tries, and one round of the upkeep.
    assert!(sent.len() <= 26, "{sent:?}");
    assert!(script.elapsed < minutes(11));
}

/// Each try tells what there is to tell by then.
#[test]
fn repeats_during_an_outage_are_one_request_after_it() {
    let mut script = recorded();
    for _ in 0..20 {
        script.pass(seconds(2), FAILED);
        script.record(event("web", "Failed"));
    }
    let sent = script.pass(seconds(10), WRITTEN);
    assert_eq!(sent, ["create web x21"]);
    assert_eq!(script.counts().written, 21);
}

/// EV-09: after the end one try each, and no waiting.
#[test]
fn after_the_end_there_is_exactly_one_try() {
    let mut script = recorded();
    script.plan.close();
    assert_eq!(script.work(FAILED), ["create web x1"]);
    assert!(script.plan.is_idle());
    assert_eq!(script.counts().dropped(DropReason::ShuttingDown), 1);
}

/// BX-25: what waits for its next try, what stands in line, and the counts of series; what
/// comes later is too late.
#[test]
fn the_end_tells_everything_at_once() {
    let mut script = recorded();
    script.work(FAILED);
    for _ in 0..5 {
        script.record(event("series", "Failed"));
        script.work(WRITTEN);
    }
    script.record(event("new", "Failed"));
    script.plan.close();
    let late = script.record(event("late", "Failed"));
    assert_eq!(late, Observed::Dropped(DropReason::ShuttingDown));
    let mut sent = script.work(WRITTEN);
    sent.sort();
    assert_eq!(sent, ["create new x1", "create web x1", "patch series x5"]);
    assert!(script.plan.is_idle());
    let counts = script.counts();
    assert_eq!((counts.written, counts.unwritten()), (7, 0));
}

/// A repeat that came while the last request was on its way.
#[test]
fn the_end_waits_for_what_is_with_the_server_and_tells_the_rest() {
    let mut script = recorded();
    let create = script.plan.next().unwrap();
    script.record(event("web", "Failed"));
    script.plan.close();
    assert!(!script.plan.is_idle());
    script.answer(&create, Outcome::Written);
    assert_eq!(script.work(WRITTEN), ["patch web x2"]);
    assert!(script.plan.is_idle());
}

#[test]
fn what_is_abandoned_is_counted() {
    let mut script = recorded();
    script.record(event("web", "Failed"));
    let _hangs = script.plan.next().unwrap();
    script.record(event("other", "Failed"));
    script.plan.abandon();
    let counts = script.counts();
    assert_eq!(counts.dropped(DropReason::ShuttingDown), 3);
    assert_eq!(counts.unwritten(), 0);
}
