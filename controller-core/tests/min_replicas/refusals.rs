//! What is said and done when the server refuses, does not answer, or does another thing.

use controller_core::controllers::min_replicas::{DryRun, Effect, Settings};
use controller_core::worker::{Outcome, ReconcileError};
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, StatusFault, Verb};
use tokio::time::{Duration, Instant, advance};

use crate::bed::{Bed, REQUEST_TIMEOUT};
use crate::fixture::settings;

fn scale_writes(action: impl Into<Action>) -> Rule {
    Rule::new(action)
        .verb(Verb::Patch)
        .resource("deployments/scale")
}

/// An answer of success in which a webhook has put the old number back.
fn kept_at_one() -> StatusFault {
    let scale = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "web", "namespace": "shop", "resourceVersion": "111"},
        "spec": {"replicas": 1},
        "status": {"replicas": 1},
    });
    Action::status(200).body(
        HeaderValue::from_static("application/json"),
        scale.to_string(),
    )
}

fn server_dry_run() -> Settings {
    settings(|settings| settings.dry_run = DryRun::Server)
}

/// C-08.
#[tokio::test]
async fn a_refusal_is_told_in_the_servers_words_and_not_gone_around() {
    let mut bed = Bed::with_web().await;
    bed.seed("api", |_| ());
    let message = "Internal error occurred: add operation does not apply: doc is missing path: \
                   \"/metadata/labels/injected\": missing value";
    bed.faults()
        .add(scale_writes(Action::status(500).message(message)).object("web"));
    let verdict = bed.settle("web").await;
    assert_eq!(
        verdict.to_string(),
        format!("could not be raised from 1 to 2: {message}")
    );
    assert_eq!(verdict.failure().unwrap().code(), Some(500));
    assert_eq!(
        bed.exchange(),
        ["PATCH web/scale 500", "GET web 200"],
        "once, and never the Deployment itself"
    );
    assert_eq!(bed.settle("api").await.to_string(), "scaled from 1 to 2");
}

#[tokio::test]
async fn a_refusal_of_what_is_already_there_is_no_failure() {
    let bed = Bed::with_web().await;
    bed.faults().add(scale_writes(Action::status(500)));
    bed.meanwhile(|object| object["spec"]["replicas"] = json!(2));
    assert_eq!(
        bed.settle_web().await,
        "already satisfies the minimum of 2 (2 replicas)"
    );
}

#[tokio::test]
async fn every_refusal_of_a_write_is_tried_again_later() {
    for code in [400, 403, 422, 429, 500, 503] {
        let bed = Bed::with_web().await;
        bed.faults().add(scale_writes(Action::status(code)));
        let error = bed.reconcile_web().await.unwrap_err();
        assert!(matches!(error, ReconcileError::Transient(_)), "{code}");
    }
}

#[tokio::test]
async fn a_lost_answer_of_an_applied_write_is_a_raise() {
    let bed = Bed::with_web().await;
    bed.faults()
        .add(scale_writes(Action::LostAnswer).attempts(1));
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
    assert_eq!(bed.replicas("web"), Some(2));
    assert_eq!(bed.patches().len(), 1);
}

#[tokio::test]
async fn a_lost_write_is_a_failure_and_works_the_next_time() {
    let bed = Bed::with_web().await;
    bed.faults().add(scale_writes(Action::Reset).attempts(1));
    let line = bed.settle_web().await;
    assert!(
        line.starts_with("could not be raised from 1 to 2: the connection was lost during PATCH"),
        "{line}"
    );
    assert_eq!(bed.replicas("web"), Some(1));
    assert_eq!(bed.settle_web().await, "scaled from 1 to 2");
}

/// C-26: a write that hangs is given up at the request's deadline and tried again.
#[tokio::test(start_paused = true)]
async fn a_hanging_write_is_given_up_at_its_deadline() {
    let bed = Bed::with_web().await;
    bed.faults().add(scale_writes(Action::Hang).attempts(1));
    let start = Instant::now();
    let error = bed.reconcile_web().await.unwrap_err();
    assert!(matches!(error, ReconcileError::Transient(_)));
    assert_eq!(start.elapsed(), REQUEST_TIMEOUT);
    advance(Duration::from_millis(100)).await;
    assert_eq!(bed.reconcile_web().await.unwrap(), Outcome::Done);
    assert_eq!(bed.replicas("web"), Some(2));
}

/// C-29, and the same judgement in a dry run.
#[tokio::test]
async fn a_number_that_the_server_did_not_take_is_a_failure() {
    for settings in [Settings::default(), server_dry_run()] {
        let mut bed = Bed::start(settings).await;
        bed.seed("web", |_| ());
        bed.faults().add(scale_writes(kept_at_one()));
        let verdict = bed.settle("web").await;
        assert!(matches!(verdict.effect, Effect::Failed(_)), "{verdict:?}");
        assert_eq!(
            verdict.failure().unwrap().message(),
            "the server kept 1 although 2 was asked"
        );
        assert_eq!(bed.patches().len(), 1);
    }
}

/// C-29: each of our writes causes an event, and each event another look. At most 8 writes in
/// 10 s are allowed; from the third on it is a fight.
#[tokio::test(start_paused = true)]
async fn a_server_that_puts_the_number_back_is_not_chased() {
    let mut bed = Bed::with_web().await;
    bed.faults().add(scale_writes(kept_at_one()));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        match bed.reconcile_web().await {
            Ok(Outcome::RequeueAfter(wait) | Outcome::NotYet(wait)) => assert!(!wait.is_zero()),
            Ok(Outcome::Done) => panic!("taken for done"),
            Err(error) => assert!(matches!(error, ReconcileError::Transient(_))),
        }
        bed.meanwhile(|object| object["status"]["observedGeneration"] = json!(1));
        bed.observe("web");
        advance(Duration::from_millis(10)).await;
    }
    assert_eq!(bed.patches().len(), 3);
    let mut reports = bed.reports.take();
    reports.dedup();
    assert_eq!(
        reports,
        [
            "could not be raised from 1 to 2: the server kept 1 although 2 was asked",
            "in a fight: raised again and again and still below the minimum; \
             no other field manager owns spec.replicas; the next raise waits 1m",
        ]
    );
}

/// C-15.
#[tokio::test]
async fn a_refused_dry_run_names_who_refused_and_stores_nothing() {
    let mut bed = Bed::start(server_dry_run()).await;
    bed.seed("web", |_| ());
    let message = "admission webhook \"policy.example.com\" does not support dry run";
    bed.faults()
        .add(scale_writes(Action::status(400).message(message)));
    let error = bed.reconcile_web().await.unwrap_err();
    assert!(matches!(error, ReconcileError::Terminal(_)), "{error:?}");
    assert_eq!(
        bed.reports.take(),
        [format!(
            "could not be raised from 1 to 2: {message} (server dry run)"
        )]
    );
    // A resync brings the key again; the decision is the same.
    assert_eq!(bed.reconcile_web().await.unwrap(), Outcome::Done);
    assert_eq!(bed.patches().len(), 1);
    assert_eq!(bed.patches()[0].info.query("dryRun"), Some("All"));
    assert_eq!(bed.replicas("web"), Some(1));
}

#[tokio::test]
async fn a_dry_run_is_sent_once_for_each_decision() {
    let mut bed = Bed::start(server_dry_run()).await;
    bed.seed("web", |_| ());
    for _ in 0..3 {
        bed.reconcile_web().await.unwrap();
        bed.meanwhile(|object| object["status"]["observedGeneration"] = json!(1));
        bed.observe("web");
    }
    assert_eq!(
        bed.reports.take(),
        ["would be scaled from 1 to 2 (server dry run)"]
    );
    assert_eq!(bed.replicas("web"), Some(1));
    bed.meanwhile(|object| object["spec"]["replicas"] = json!(0));
    bed.observe("web");
    bed.reconcile_web().await.unwrap();
    assert_eq!(
        bed.reports.take(),
        ["would be scaled from 0 to 2 (server dry run)"]
    );
    let patches = bed.patches();
    assert_eq!(patches.len(), 2);
    for patch in patches {
        assert_eq!(patch.info.query("dryRun"), Some("All"));
    }
}

/// Whatever number is there after a dry run, it is not ours.
#[tokio::test]
async fn a_dry_run_without_an_answer_claims_nothing() {
    let mut bed = Bed::start(server_dry_run()).await;
    bed.seed("web", |_| ());
    bed.faults()
        .add(scale_writes(Action::LostAnswer).attempts(1));
    let line = bed.settle_web().await;
    assert!(line.starts_with("could not be raised"), "{line}");
    assert_eq!(bed.replicas("web"), Some(1));
}

#[tokio::test]
async fn a_client_dry_run_sends_nothing() {
    let mut bed = Bed::start(settings(|settings| settings.dry_run = DryRun::Client)).await;
    bed.seed("web", |_| ());
    assert_eq!(
        bed.settle_web().await,
        "would be scaled from 1 to 2 (dry run)"
    );
    assert_eq!(bed.reconcile_web().await.unwrap(), Outcome::Done);
    assert!(bed.exchange().is_empty());
}
