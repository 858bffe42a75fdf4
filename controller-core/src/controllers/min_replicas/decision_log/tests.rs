use captured_log::CapturedLog;
use tokio::time::{Duration, advance};
use tracing::Level;

use super::*;
use crate::controllers::min_replicas::{DryRun, Failure, Opponent, OptIn, Owner};

fn verdict(name: &str, reason: Reason, effect: Effect) -> Verdict {
    Verdict {
        key: ObjectKey::namespaced("shop", name),
        uid: Some(format!("uid-{name}")),
        reason,
        effect,
        dry_run: DryRun::None,
        rejected_min: None,
    }
}

fn left(name: &str, reason: Reason) -> Verdict {
    verdict(name, reason, Effect::None)
}

fn gone(name: &str) -> Verdict {
    Verdict {
        uid: None,
        ..left(name, Reason::NoLongerExists)
    }
}

fn raised(name: &str) -> Verdict {
    let (from, to) = (1, 2);
    verdict(
        name,
        Reason::Raise { from, to },
        Effect::Raised { from, to },
    )
}

fn failed(name: &str, asked: i32) -> Verdict {
    let reason = Reason::Raise { from: 1, to: 2 };
    let failure = Failure::Kept { kept: 1, asked };
    verdict(name, reason, Effect::Failed(failure))
}

fn satisfied(replicas: i32) -> Reason {
    Reason::Satisfied { replicas, min: 2 }
}

#[test]
fn a_line_is_logged_when_the_decision_changes() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    for verdict in [
        raised("web"),
        left("web", satisfied(2)),
        left("web", satisfied(2)),
        // How far above the minimum it is changes nothing.
        left("web", satisfied(5)),
        left("web", Reason::BeingDeleted),
        left("web", Reason::BeingDeleted),
        gone("web"),
    ] {
        log.report(&verdict);
    }
    insta::assert_snapshot!(lines.take(), @r#"
     INFO deployment.apps/web scaled from 1 to 2 namespace="shop" reason="Raise"
     INFO deployment.apps/web already satisfies the minimum of 2 (2 replicas) namespace="shop" reason="Satisfied"
     INFO deployment.apps/web skipped: being deleted namespace="shop" reason="BeingDeleted"
     INFO deployment.apps/web no longer exists namespace="shop" reason="NoLongerExists"
    "#);
}

#[test]
fn a_confirmed_decision_is_a_debug_line() {
    let (lines, _guard) = CapturedLog::start(Level::DEBUG);
    let log = DecisionLog::default();
    log.report(&left("web", satisfied(2)));
    lines.take();
    log.report(&left("web", satisfied(2)));
    insta::assert_snapshot!(lines.take(), @r#"
    DEBUG deployment.apps/web already satisfies the minimum of 2 (2 replicas) namespace="shop" reason="Satisfied"
    "#);
}

#[test]
fn every_raise_is_told_even_if_nothing_was_seen_in_between() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    log.report(&raised("web"));
    log.report(&raised("web"));
    assert_eq!(lines.take().lines().count(), 2);
    assert_eq!(log.tally().raised, 2);
}

/// C-11: one "no longer exists" for one end, none for an object that was never heard of.
#[test]
fn an_end_is_told_once() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    log.report(&gone("stranger"));
    assert_eq!(lines.take(), "");
    log.report(&left("web", satisfied(2)));
    log.report(&verdict(
        "web",
        Reason::Unread,
        Effect::Failed(Failure::Conflicts { tries: 4 }),
    ));
    lines.take();
    log.report(&gone("web"));
    log.report(&gone("web"));
    insta::assert_snapshot!(lines.take(), @r#"
     INFO deployment.apps/web no longer exists namespace="shop" reason="NoLongerExists"
    "#);
}

#[test]
fn a_recreated_object_is_news() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    log.report(&left("web", satisfied(2)));
    log.report(&Verdict {
        uid: Some("another".into()),
        ..left("web", satisfied(2))
    });
    assert_eq!(lines.take().lines().count(), 2);
}

#[test]
fn what_was_skipped_names_why() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    let owner = Owner {
        kind: "Foo".into(),
        name: "f1".into(),
    };
    log.report(&left("a", Reason::Owned { owner }));
    log.report(&left(
        "b",
        Reason::NotOptedIn {
            opt_in: OptIn::default(),
            found: Some("True".into()),
        },
    ));
    insta::assert_snapshot!(lines.take(), @r#"
     INFO deployment.apps/a skipped: owned by Foo/f1, which decides its replicas namespace="shop" reason="Owned"
     INFO deployment.apps/b skipped: not opted in: label demo/min-replicas is "True", not "true" namespace="shop" reason="NotOptedIn"
    "#);
}

/// Once a value: a resync says nothing new, another wrong value does.
#[test]
fn an_annotation_that_is_no_minimum_is_told_once_a_value() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    let rejected = |value: &str| Verdict {
        rejected_min: Some(RejectedMin {
            value: value.into(),
            max: 100,
            applied: 2,
        }),
        ..left("web", satisfied(2))
    };
    let paused = Reason::NamespacePaused {
        namespace: "shop".into(),
    };
    for verdict in [
        rejected("3.0"),
        rejected("3.0"),
        rejected("-1"),
        left("web", satisfied(2)),
        rejected("-1"),
        // Its minimum is not looked at for a while.
        left("web", paused),
        rejected("-1"),
        // It was made again.
        Verdict {
            uid: Some("another".into()),
            ..rejected("-1")
        },
    ] {
        log.report(&verdict);
    }
    insta::assert_snapshot!(lines.take(), @r#"
     WARN deployment.apps/web: annotation minrep.dev/min is "3.0", which is no whole number from 1 to 100: the minimum of 2 applies namespace="shop"
     INFO deployment.apps/web already satisfies the minimum of 2 (2 replicas) namespace="shop" reason="Satisfied"
     WARN deployment.apps/web: annotation minrep.dev/min is "-1", which is no whole number from 1 to 100: the minimum of 2 applies namespace="shop"
     WARN deployment.apps/web: annotation minrep.dev/min is "-1", which is no whole number from 1 to 100: the minimum of 2 applies namespace="shop"
     INFO deployment.apps/web skipped: namespace shop is paused (annotation minrep.dev/paused) namespace="shop" reason="NamespacePaused"
     INFO deployment.apps/web already satisfies the minimum of 2 (2 replicas) namespace="shop" reason="Satisfied"
     WARN deployment.apps/web: annotation minrep.dev/min is "-1", which is no whole number from 1 to 100: the minimum of 2 applies namespace="shop"
     INFO deployment.apps/web already satisfies the minimum of 2 (2 replicas) namespace="shop" reason="Satisfied"
    "#);
}

/// A fight is a warning when it begins and when its wait grows; a turn that has not come is
/// no line at all, for thousands may wait.
#[test]
fn what_waits_is_told_once_or_counted_elsewhere() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    let fight = |minutes: u64| {
        let wait = Duration::from_secs(60 * minutes);
        let (autoscaler, opponent) = (None, Opponent::Manager("argocd-controller".into()));
        let reason = Reason::Fight {
            autoscaler,
            opponent,
            wait,
        };
        left("web", reason)
    };
    let budget = |seconds| {
        let wait = Duration::from_secs(seconds);
        left("api", Reason::Budget { limit: 100, wait })
    };
    for verdict in [fight(1), fight(1), fight(2), budget(60), budget(30)] {
        log.report(&verdict);
    }
    insta::assert_snapshot!(lines.take(), @r#"
    WARN deployment.apps/web in a fight: raised again and again and still below the minimum; field manager "argocd-controller" owns spec.replicas; the next raise waits 1m namespace="shop" reason="Fight"
    WARN deployment.apps/web in a fight: raised again and again and still below the minimum; field manager "argocd-controller" owns spec.replicas; the next raise waits 2m namespace="shop" reason="Fight"
    "#);
}

/// C-28: 200 objects, each tried 14 times in 20 s.
#[tokio::test(start_paused = true)]
async fn many_failures_of_one_kind_are_a_few_lines() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    for _ in 0..14 {
        for object in 0..200 {
            log.report(&failed(&format!("web-{object}"), 2));
        }
        advance(Duration::from_millis(1430)).await;
    }
    insta::assert_snapshot!(lines.take(), @r#"
     WARN deployment.apps/web-0 could not be raised from 1 to 2: the server kept 1 although 2 was asked namespace="shop" reason="Raise"
     WARN 199 more Deployments failed the same way: the server kept 1 although 2 was asked failing=200
    "#);
    assert_eq!(log.tally().failing, 200);
}

#[tokio::test(start_paused = true)]
async fn another_message_is_another_line() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    log.report(&failed("web", 2));
    log.report(&verdict(
        "web",
        Reason::Raise { from: 1, to: 2 },
        Effect::Failed(Failure::Conflicts { tries: 4 }),
    ));
    insta::assert_snapshot!(lines.take(), @r#"
     WARN deployment.apps/web could not be raised from 1 to 2: the server kept 1 although 2 was asked namespace="shop" reason="Raise"
     WARN deployment.apps/web could not be raised from 1 to 2: it changed during each of 4 tries namespace="shop" reason="Raise"
    "#);
}

/// Objects that fail and recover one after the other are still one story.
#[tokio::test(start_paused = true)]
async fn failures_in_turn_are_counted_too() {
    let (lines, _guard) = CapturedLog::start(Level::WARN);
    let log = DecisionLog::default();
    for object in 0..100 {
        let name = format!("web-{object}");
        log.report(&failed(&name, 2));
        log.report(&raised(&name));
        advance(Duration::from_millis(250)).await;
    }
    assert_eq!(lines.take().lines().count(), 3);
}

#[test]
fn a_dry_run_counts_what_it_would_raise() {
    let log = DecisionLog::default();
    let would = |name: &str| Verdict {
        dry_run: DryRun::Client,
        ..verdict(
            name,
            Reason::Raise { from: 1, to: 2 },
            Effect::WouldRaise { from: 1, to: 2 },
        )
    };
    for verdict in [would("a"), would("b"), would("a"), left("b", satisfied(2))] {
        log.report(&verdict);
    }
    let tally = Tally {
        would_raise: 1,
        ..Tally::default()
    };
    assert_eq!(log.tally(), tally);
}

#[tokio::test(start_paused = true)]
async fn a_second_failure_of_one_kind_is_one_more_deployment() {
    let (lines, _guard) = CapturedLog::start(Level::INFO);
    let log = DecisionLog::default();
    for _ in 0..14 {
        for object in ["api", "web"] {
            log.report(&failed(object, 2));
        }
        advance(Duration::from_millis(1430)).await;
    }
    let lines = lines.take();
    assert!(
        lines.contains(" 1 more Deployment failed the same way"),
        "{lines}"
    );
}

/// A turn that has not come is no recovery.
#[tokio::test(start_paused = true)]
async fn who_waits_for_a_turn_between_two_failures_is_counted_once() {
    let (lines, _guard) = CapturedLog::start(Level::WARN);
    let log = DecisionLog::default();
    let (limit, wait) = (100, Duration::from_secs(1));
    for _ in 0..3 {
        for name in ["web-1", "web-2"] {
            log.report(&failed(name, 2));
            log.report(&left(name, Reason::Budget { limit, wait }));
        }
        tokio::time::advance(Duration::from_secs(10)).await;
    }
    insta::assert_snapshot!(lines.take(), @r#"
     WARN deployment.apps/web-1 could not be raised from 1 to 2: the server kept 1 although 2 was asked namespace="shop" reason="Raise"
     WARN 1 more Deployment failed the same way: the server kept 1 although 2 was asked failing=2
    "#);
}
