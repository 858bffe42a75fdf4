//! What makes a series, and how it lives and ends.

use super::script::{FAILED, REFUSED, Script, WRITTEN, event, line, minutes, object, seconds};
use crate::write::events::plan::{Observed, Outcome, Write};
use crate::write::events::{DropReason, Event, SpamLimit};

/// EV-26: the first is created, an isomorphic one patched with 2, another action created.
#[test]
fn a_repeat_begins_a_series_and_another_action_is_another_event() {
    let mut script = Script::new();
    let started = |note: &str| Event::normal(object("foo"), "test", "started", note);
    script.record(started("some verbose message: 1"));
    assert_eq!(script.work(WRITTEN), ["create foo x1"]);
    script.record(started("some verbose message: 2"));
    assert_eq!(script.work(WRITTEN), ["patch foo x2"]);
    script.record(Event::normal(object("foo"), "test", "stopped", "another"));
    assert_eq!(script.work(WRITTEN), ["create foo x1"]);
}

/// EV-04: seven events of two objects that have the same name, and of their parts. From
/// the third on a repeat is counted and told of at the end.
#[test]
fn repeats_are_told_apart_by_object_and_part() {
    let part = |uid: &str, path: &str| {
        let mut foo = object("foo").with_field_path(path);
        foo.uid = uid.into();
        Event::normal(foo, "Started", "Start", "some verbose message")
    };
    let mut script = Script::new();
    let mut sent = Vec::new();
    for (uid, path) in [
        ("bar", "spec.containers[2]"),
        ("bar", ""),
        ("bar", "spec.containers[2]"),
        ("other", "spec.containers[2]"),
        ("bar", "spec.containers[2]"),
        ("other", "spec.containers[3]"),
        ("other", "spec.containers[3]"),
    ] {
        script.record(part(uid, path));
        sent.push(script.work(WRITTEN).join(","));
    }
    assert_eq!(
        sent,
        [
            "create foo x1",
            "create foo x1",
            "patch foo x2",
            "create foo x1",
            "", // 3
            "create foo x1",
            "patch foo x2"
        ]
    );
    assert_eq!(script.pass(minutes(20), WRITTEN), ["patch foo x3"]);
}

/// EV-16, EV-17: eleven of the same, 30 s apart, are one series of eleven; its note is the
/// first, nothing is aggregated.
#[test]
fn many_of_the_same_are_one_series() {
    let mut script = Script::new();
    let mut sent = Vec::new();
    for _ in 0..11 {
        script.record(event("web", "Failed"));
        sent.extend(script.pass(seconds(30), WRITTEN));
    }
    assert_eq!(sent, ["create web x1", "patch web x2"]);
    assert_eq!(script.pass(minutes(20), WRITTEN), ["patch web x11"]);
    assert_eq!((script.counts().written, script.counts().requests), (11, 3));
}

/// EV-22.
#[test]
fn another_part_of_the_object_is_another_event() {
    let mut script = Script::new();
    for part in ["spec.containers{container1}", "spec.containers{container2}"] {
        let pod = object("my-pod").with_field_path(part);
        script.record(Event::normal(pod, "similar", "Test", "similar message"));
    }
    assert_eq!(
        script.work(WRITTEN),
        ["create my-pod x1", "create my-pod x1"]
    );
}

#[test]
fn type_reason_related_and_source_tell_events_apart_and_the_note_does_not() {
    let mut script = Script::new();
    let base = || event("web", "Raised");
    for other in [
        base(),
        Event::warning(object("web"), "Raised", "Test", "a note"),
        event("web", "Lowered"),
        base().related(object("pod")),
        base().related(object("node")),
    ] {
        assert_eq!(script.record(other), Observed::Queued);
    }
    let repeat = Event::normal(object("web"), "Raised", "Test", "another note");
    assert_eq!(script.record(repeat), Observed::Counted);
    assert_eq!(script.work(WRITTEN).len(), 5);
}

/// EV-28: an idle series is told of a last time and forgotten; a single event that is young
/// is kept.
#[test]
fn a_quiet_series_is_finished_and_a_fresh_event_kept() {
    let mut script = Script::new();
    for _ in 0..10 {
        script.record(event("old", "Failed"));
        script.work(WRITTEN);
    }
    assert_eq!(script.pass(minutes(11), WRITTEN), [""; 0]);
    script.record(event("fresh", "Failed"));
    let sent = script.pass(minutes(1), WRITTEN);
    assert_eq!(sent, ["create fresh x1", "patch old x10"]);
    // Forgotten: the next one is new. Kept: the next one is a repeat.
    script.record(event("old", "Failed"));
    script.record(event("fresh", "Failed"));
    assert_eq!(script.work(WRITTEN), ["create old x1", "patch fresh x2"]);
}

/// As client-go: quiet for more than 6 min, which is looked at each 6 min.
#[test]
fn a_series_ends_between_6_and_12_minutes_after_the_last() {
    for (after, continues) in [(6, true), (11, true), (12, false), (13, false)] {
        let mut script = Script::new();
        script.pass(seconds(1), WRITTEN);
        script.record(event("web", "Failed"));
        script.pass(minutes(after), WRITTEN);
        script.record(event("web", "Failed"));
        let sent = script.work(WRITTEN);
        let expected = if continues {
            "patch web x2"
        } else {
            "create web x1"
        };
        assert_eq!(sent, [expected], "after {after} min");
    }
}

/// What the server knows in full is forgotten without a word.
#[test]
fn an_end_without_news_costs_no_request() {
    let mut script = Script::new();
    script.record(event("web", "Failed"));
    script.record(event("web", "Failed"));
    assert_eq!(script.pass(minutes(60), WRITTEN), ["create web x2"]);
    assert!(script.plan.due().is_none());
}

/// EV-29, both: the patch is accepted, or it fails; the series is kept in either case.
#[test]
fn every_30_minutes_a_living_series_is_told_of() {
    for server in [WRITTEN, FAILED, REFUSED] {
        let mut script = Script::new();
        script.record(event("web", "Failed"));
        script.pass(minutes(1), WRITTEN);
        let mut sent = Vec::new();
        for _ in 0..8 {
            script.record(event("web", "Failed"));
            sent.extend(script.pass(minutes(4), |write| match &*line(write) {
                "patch web x2" => Outcome::Written,
                _ => server(write),
            }));
        }
        assert_eq!(sent, ["patch web x2", "patch web x9"]);
        // Kept: what comes next is counted, and needs no request.
        assert_eq!(script.record(event("web", "Failed")), Observed::Counted);
        assert_eq!(script.counts().dropped_total(), 0);
        assert_eq!(script.pass(minutes(20), WRITTEN), ["patch web x10"]);
    }
}

/// EV-30: all four orders end in one event that has the count. A series has one request at
/// a time, so they are orders of what happens, not of requests.
#[test]
fn an_event_and_its_repeat_are_one_event_in_any_order() {
    let web = || event("web", "Failed");
    // One alone.
    let mut script = Script::new();
    script.record(web());
    assert_eq!(script.work(WRITTEN), ["create web x1"]);
    // A repeat after the event was written.
    script.record(web());
    assert_eq!(script.work(WRITTEN), ["patch web x2"]);
    // A repeat before the event could be written.
    let mut script = Script::new();
    script.record(web());
    script.record(web());
    assert_eq!(script.work(WRITTEN), ["create web x2"]);
    // A repeat while it is being written.
    let mut script = Script::new();
    script.record(web());
    let create = script.plan.next().unwrap();
    assert_eq!(script.record(web()), Observed::Counted);
    assert!(script.plan.next().is_none());
    script.answer(&create, Outcome::Written);
    assert_eq!(script.work(WRITTEN), ["patch web x2"]);
    // A series without its event.
    script.record(web());
    let vanished = |write: &Write| match line(write).starts_with("patch") {
        true => Outcome::Vanished,
        false => Outcome::Written,
    };
    assert_eq!(
        script.pass(minutes(20), vanished),
        ["patch web x3", "create web x3"]
    );
}

/// A series that is about to end, and goes on.
#[test]
fn a_repeat_during_the_last_patch_keeps_the_series() {
    let mut script = Script::new();
    for _ in 0..3 {
        script.record(event("web", "Failed"));
        script.work(WRITTEN);
    }
    script.elapsed = minutes(12);
    script.plan.tick(script.at());
    let last = script.plan.next().unwrap();
    assert_eq!(line(&last), "patch web x3");
    assert_eq!(script.record(event("web", "Failed")), Observed::Counted);
    script.answer(&last, Outcome::Written);
    assert_eq!(script.work(WRITTEN), [""; 0]);
    assert_eq!(script.pass(minutes(20), WRITTEN), ["patch web x4"]);
}

/// Where only `create` is allowed.
#[test]
fn without_patches_an_event_is_told_once_and_the_rest_is_counted() {
    let mut script = Script::new();
    let creates_only = |write: &Write| match line(write).starts_with("create") {
        true => Outcome::Written,
        false => Outcome::Refused,
    };
    let mut sent = Vec::new();
    for _ in 0..5 {
        script.record(event("web", "Failed"));
        sent.extend(script.work(creates_only));
    }
    sent.extend(script.pass(minutes(60), creates_only));
    assert_eq!(sent, ["create web x1", "patch web x2", "patch web x5"]);
    let counts = script.counts();
    assert_eq!(
        (counts.written, counts.dropped(DropReason::Refused)),
        (1, 4)
    );
}

/// EV-18: 27 of the same within a minute. The filter is about requests, and repeats need
/// none, so that nothing is lost.
#[test]
fn repeats_of_one_event_are_counted_and_not_filtered() {
    let mut script = Script::new();
    let mut sent = Vec::new();
    for _ in 0..27 {
        script.record(event("web", "Failed"));
        sent.extend(script.pass(seconds(1), WRITTEN));
    }
    assert_eq!(sent, ["create web x1", "patch web x2"]);
    assert_eq!(script.pass(minutes(20), WRITTEN), ["patch web x27"]);
    assert_eq!(script.counts().dropped_total(), 0);
}

/// EV-18, of what does need requests: the 26th new event about one object is skipped, and
/// five minutes later one passes.
#[test]
fn the_26th_event_about_an_object_is_filtered() {
    const REASONS: [&str; 28] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
        "s", "t", "u", "v", "w", "x", "y", "z", "1", "2",
    ];
    let mut script = Script::new();
    let filtered = Observed::Dropped(DropReason::Filtered);
    for (at, reason) in REASONS.into_iter().take(26).enumerate() {
        let observed = script.record(event("web", reason));
        assert_eq!(observed == filtered, at == 25, "{reason}");
        script.pass(seconds(1), WRITTEN);
    }
    script.pass(minutes(5) - seconds(26), WRITTEN);
    assert_eq!(script.record(event("web", REASONS[26])), Observed::Queued);
    assert_eq!(script.record(event("web", REASONS[27])), filtered);
    assert_eq!(script.counts().dropped(DropReason::Filtered), 2);
}

/// EV-19.
#[test]
fn events_about_many_objects_share_nothing() {
    let mut script = Script::new();
    for pod in 0..30 {
        script.record(event(&format!("pod-{pod}"), "Unique"));
        assert_eq!(
            script.pass(seconds(5), WRITTEN),
            [format!("create pod-{pod} x1")]
        );
    }
}

/// A first repeat that has no request left is not lost: the upkeep tells it.
#[test]
fn a_series_beyond_its_share_is_told_of_later() {
    let mut script = Script::with_limit(SpamLimit {
        burst: 1,
        ..SpamLimit::default()
    });
    script.record(event("web", "Failed"));
    script.work(WRITTEN);
    assert_eq!(script.record(event("web", "Failed")), Observed::Counted);
    assert_eq!(script.work(WRITTEN), [""; 0]);
    assert_eq!(script.pass(minutes(20), WRITTEN), ["patch web x2"]);
    assert_eq!(script.counts().dropped_total(), 0);
}
