use std::time::Duration;

use super::*;
use crate::controllers::min_replicas::{DryRun, Failure, Opponent, Owner};

fn verdict(reason: Reason, effect: Effect) -> Verdict {
    Verdict {
        key: ObjectKey::namespaced("shop", "web"),
        uid: Some("u".into()),
        reason,
        effect,
        dry_run: DryRun::None,
        rejected_min: None,
    }
}

fn left(reason: Reason) -> Verdict {
    verdict(reason, Effect::None)
}

fn raised() -> Verdict {
    let (from, to) = (1, 2);
    verdict(Reason::Raise { from, to }, Effect::Raised { from, to })
}

fn failed(kept: i32) -> Verdict {
    let failure = Failure::Kept { kept, asked: 2 };
    verdict(Reason::Raise { from: 1, to: 2 }, Effect::Failed(failure))
}

fn satisfied() -> Verdict {
    left(Reason::Satisfied {
        replicas: 2,
        min: 2,
    })
}

fn owned(by: &str) -> Verdict {
    left(Reason::Owned {
        owner: Owner {
            kind: "Foo".into(),
            name: by.into(),
        },
    })
}

fn fight(minutes: u64) -> Verdict {
    left(Reason::Fight {
        autoscaler: None,
        opponent: Opponent::Unknown,
        wait: Duration::from_secs(60 * minutes),
    })
}

/// What each verdict is the occasion of, one after the other.
fn occasions(mut state: Occasions, verdicts: &[Verdict]) -> Vec<Option<&'static str>> {
    verdicts
        .iter()
        .map(|verdict| state.note(verdict).map(Occasion::reason))
        .collect()
}

fn later(verdicts: &[Verdict]) -> Vec<Option<&'static str>> {
    occasions(Occasions::default(), verdicts)
}

#[test]
fn every_raise_is_one() {
    assert_eq!(
        later(&[raised(), satisfied(), raised(), raised()]),
        [Some("Raised"), None, Some("Raised"), Some("Raised")]
    );
}

#[test]
fn left_alone_is_one_for_each_change_of_state() {
    assert_eq!(
        later(&[
            satisfied(),
            owned("a"),
            owned("a"),
            owned("b"),
            satisfied(),
            owned("b"),
        ]),
        [
            None,
            Some("Skipped"),
            None,
            Some("Skipped"),
            None,
            Some("Skipped")
        ]
    );
}

#[test]
fn what_was_so_at_the_start_is_none_and_what_comes_later_is() {
    let key = ObjectKey::namespaced("shop", "web");
    let at_start = || Occasions::new([key.clone()]);
    assert_eq!(
        occasions(at_start(), &[owned("a"), owned("a"), owned("b")]),
        [None, None, Some("Skipped")]
    );
    // A raise and a failure are news whenever they happen.
    assert_eq!(occasions(at_start(), &[raised()]), [Some("Raised")]);
    assert_eq!(occasions(at_start(), &[failed(1)]), [Some("FailedUpdate")]);
    assert_eq!(later(&[owned("a")]), [Some("Skipped")]);
}

/// One line, when the last of them was looked at, and never again.
#[test]
fn what_was_left_alone_at_the_start_is_counted_once() {
    let named = |name: &str, verdict: Verdict| Verdict {
        key: ObjectKey::namespaced("shop", name),
        ..verdict
    };
    let keys = ["a", "b", "c", "d"].map(|name| ObjectKey::namespaced("shop", name));
    let mut state = Occasions::new(keys);
    for verdict in [
        named("a", owned("x")),
        named("b", owned("x")),
        named("c", satisfied()),
        named("late", owned("x")),
    ] {
        state.note(&verdict);
        assert_eq!(state.left_at_start(), None);
    }
    state.note(&named("d", left(Reason::BeingDeleted)));
    let counts = state.left_at_start().unwrap();
    assert_eq!(
        counts.into_iter().collect::<Vec<_>>(),
        [("BeingDeleted", 1), ("Owned", 2)]
    );
    state.note(&named("e", owned("x")));
    assert_eq!(state.left_at_start(), None);
}

/// C-11.
#[test]
fn an_object_on_its_way_out_is_none() {
    let gone = Verdict {
        uid: None,
        ..left(Reason::NoLongerExists)
    };
    assert_eq!(
        later(&[satisfied(), left(Reason::BeingDeleted), gone]),
        [None, None, None]
    );
}

#[test]
fn each_round_of_a_fight_is_one() {
    assert_eq!(
        later(&[raised(), fight(1), fight(1), raised(), fight(2), fight(2)]),
        [
            Some("Raised"),
            Some("Fight"),
            None,
            Some("Raised"),
            Some("Fight"),
            None
        ]
    );
}

#[test]
fn a_failure_is_one_for_each_message() {
    assert_eq!(
        later(&[failed(1), failed(1), failed(0), raised(), failed(0)]),
        [
            Some("FailedUpdate"),
            None,
            Some("FailedUpdate"),
            Some("Raised"),
            Some("FailedUpdate")
        ]
    );
    // A turn that has not come is no recovery.
    let budget = || {
        let (limit, wait) = (100, Duration::from_secs(1));
        left(Reason::Budget { limit, wait })
    };
    assert_eq!(
        later(&[
            failed(1),
            budget(),
            budget(),
            failed(1),
            budget(),
            failed(0)
        ]),
        [
            Some("FailedUpdate"),
            None,
            None,
            None,
            None,
            Some("FailedUpdate")
        ]
    );
    let unread = verdict(
        Reason::Unread,
        Effect::Failed(Failure::Conflicts { tries: 4 }),
    );
    // Nor does it change what is known.
    let unread = Verdict {
        uid: None,
        ..unread
    };
    assert_eq!(
        later(&[unread.clone(), owned("a"), unread, owned("a")]),
        [None, Some("Skipped"), None, None]
    );
}

#[test]
fn what_was_not_written_is_none() {
    let (from, to) = (1, 2);
    let reason = || Reason::Raise { from, to };
    let budget = Reason::Budget {
        limit: 100,
        wait: Duration::from_secs(1),
    };
    assert_eq!(
        later(&[
            verdict(reason(), Effect::WouldRaise { from, to }),
            verdict(reason(), Effect::NotSent),
            verdict(reason(), Effect::Withheld),
            left(budget),
        ]),
        [None; 4]
    );
}

#[test]
fn an_object_of_the_same_name_is_another_one() {
    let other = Verdict {
        uid: Some("v".into()),
        ..owned("a")
    };
    assert_eq!(
        later(&[owned("a"), other]),
        [Some("Skipped"), Some("Skipped")]
    );
}

#[test]
fn nothing_is_remembered_of_what_is_gone() {
    let mut state = Occasions::default();
    state.note(&owned("a"));
    state.note(&left(Reason::NoLongerOptedIn));
    assert!(state.last.is_empty());
}
