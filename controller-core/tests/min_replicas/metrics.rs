//! What is counted, by its exposition text.

use controller_core::client::{ApiError, ObjectKey};
use controller_core::controllers::min_replicas::{
    DryRun, Effect, Failure, Metrics, Opponent, OptIn, Raise, Reason, Reporter, Through, Verdict,
    WriteError, WriteScale,
};
use parking_lot::Mutex;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::time::Duration;

/// Gives these answers, one after the other.
struct Scripted(Mutex<Vec<Result<i32, WriteError>>>);

impl WriteScale for Scripted {
    async fn write_scale(&self, _: &Raise, _: bool) -> Result<i32, WriteError> {
        self.0.lock().remove(0)
    }
}

/// The samples, without the lines that describe them.
fn samples(metrics: &Metrics) -> String {
    let lines = text(metrics);
    let mut lines: Vec<&str> = lines.lines().filter(|it| !it.starts_with('#')).collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn text(metrics: &Metrics) -> String {
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    text
}

fn verdict(name: &str, reason: Reason, effect: Effect) -> Verdict {
    Verdict {
        key: ObjectKey::namespaced("shop", name),
        uid: Some("u".into()),
        reason,
        effect,
        dry_run: DryRun::None,
        rejected_min: None,
    }
}

fn left(name: &str, reason: Reason) -> Verdict {
    verdict(name, reason, Effect::None)
}

fn raise(effect: Effect) -> Verdict {
    verdict("web", Reason::Raise { from: 1, to: 2 }, effect)
}

fn not_opted_in() -> Reason {
    Reason::NotOptedIn {
        opt_in: OptIn::default(),
        found: None,
    }
}

fn fight(minutes: u64) -> Reason {
    Reason::Fight {
        autoscaler: None,
        opponent: Opponent::Unknown,
        wait: Duration::from_secs(60 * minutes),
    }
}

fn budget() -> Reason {
    Reason::Budget {
        limit: 100,
        wait: Duration::from_secs(1),
    }
}

fn timeout() -> ApiError {
    ApiError::Timeout {
        request: "PATCH /x".into(),
        after: Duration::from_secs(5),
    }
}

#[test]
fn the_names_types_and_words() {
    insta::assert_snapshot!(text(&Metrics::default()), @r"
    # HELP minrep_would_raise Deployments that a dry run would raise.
    # TYPE minrep_would_raise gauge
    minrep_would_raise 0
    # HELP minrep_fights Times that a fight held a raise back.
    # TYPE minrep_fights counter
    minrep_fights_total 0
    # HELP minrep_budget_delayed Times that a Deployment had to wait for its turn.
    # TYPE minrep_budget_delayed counter
    minrep_budget_delayed_total 0
    # EOF
    ");
}

#[test]
fn raises_and_failures_add_up() {
    let metrics = Metrics::default();
    let through = Reason::RaiseMin {
        autoscaler: "web".into(),
        from: 1,
        to: 2,
    };
    let raised = || Effect::Raised { from: 1, to: 2 };
    for verdict in [
        raise(raised()),
        raise(raised()),
        verdict("api", through, raised()),
        raise(Effect::Failed(Failure::Kept { kept: 1, asked: 2 })),
        raise(Effect::Failed(Failure::from(timeout()))),
        raise(Effect::Failed(Failure::from(timeout()))),
        verdict(
            "api",
            Reason::Unread,
            Effect::Failed(Failure::from(timeout())),
        ),
    ] {
        metrics.report(&verdict);
    }
    insta::assert_snapshot!(samples(&metrics), @r#"
    minrep_budget_delayed_total 0
    minrep_failures_total{reason="ChangedByServer"} 1
    minrep_failures_total{reason="Timeout"} 3
    minrep_fights_total 0
    minrep_raises_total{target="autoscaler"} 1
    minrep_raises_total{target="deployment"} 2
    minrep_would_raise 0
    "#);
}

/// A look every 30 s that finds it as it was is no failure of its own.
#[test]
fn a_minimum_above_the_maximum_counts_once() {
    let metrics = Metrics::default();
    let blocked = || Reason::MinAboveMax {
        autoscaler: "web".into(),
        max: 1,
        from: 1,
        to: 2,
    };
    for _ in 0..5 {
        let failure = Failure::MinAboveMax { max: 1, min: 2 };
        metrics.report(&verdict("web", blocked(), Effect::Failed(failure)));
    }
    let samples = samples(&metrics);
    assert!(
        samples.contains("minrep_failures_total{reason=\"MinAboveMax\"} 1\n"),
        "{samples}"
    );
}

#[test]
fn gauges_say_how_it_stands_and_counters_how_often_it_came_to_that() {
    let metrics = Metrics::default();
    let satisfied = Reason::Satisfied {
        replicas: 2,
        min: 2,
    };
    let would = |name| {
        let (from, to) = (1, 2);
        let reason = Reason::Raise { from, to };
        verdict(name, reason, Effect::WouldRaise { from, to })
    };
    for verdict in [
        left("a", not_opted_in()),
        left("a", not_opted_in()),
        left("b", not_opted_in()),
        left("c", fight(1)),
        left("c", fight(1)),
        left("d", budget()),
        left("d", budget()),
        left("e", budget()),
        left("e", satisfied),
        would("f"),
        would("f"),
        left("g", not_opted_in()),
        left("g", Reason::NoLongerExists),
        left("h", Reason::NoLongerExists),
        verdict(
            "b",
            Reason::Unread,
            Effect::Failed(Failure::from(timeout())),
        ),
    ] {
        metrics.report(&verdict);
    }
    insta::assert_snapshot!(samples(&metrics), @r#"
    minrep_budget_delayed_total 2
    minrep_failures_total{reason="Timeout"} 1
    minrep_fights_total 1
    minrep_skipped{reason="Budget"} 1
    minrep_skipped{reason="Fight"} 1
    minrep_skipped{reason="NotOptedIn"} 2
    minrep_would_raise 1
    "#);
}

#[tokio::test]
async fn every_write_counts_by_its_answer() {
    let metrics = Metrics::default();
    let answers = vec![Ok(2), Err(timeout().into()), Err(WriteError::Closed), Ok(2)];
    let writer = metrics.counting(Scripted(Mutex::new(answers)));
    let mut raise = Raise {
        key: ObjectKey::namespaced("shop", "web"),
        uid: "u".into(),
        resource_version: "7".into(),
        from: 1,
        to: 2,
        through: Through::Scale,
    };
    for _ in 0..3 {
        // What it is told is the caller's business.
        let _ = writer.write_scale(&raise, false).await;
    }
    metrics.count_late_answer(&raise, &Ok(2));
    raise.through = Through::Autoscaler {
        name: "web".into(),
        uid: "h".into(),
        resource_version: "8".into(),
    };
    assert_eq!(writer.write_scale(&raise, false).await.unwrap(), 2);
    insta::assert_snapshot!(samples(&metrics), @r#"
    minrep_budget_delayed_total 0
    minrep_fights_total 0
    minrep_would_raise 0
    minrep_write_attempts_total{target="autoscaler",code="200"} 1
    minrep_write_attempts_total{target="deployment",code="200"} 2
    minrep_write_attempts_total{target="deployment",code="<error>"} 1
    "#);
}
