//! What a person sees of events that are not written: one line for each cause.

use captured_log::CapturedLog;
use controller_core::write::events::DropReason;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule};
use tracing::Level;

use crate::bed::{Bed, about, creates, minutes, patches, raised};

/// C-13: the namespace is going away. It is tried once, and nobody is bothered.
#[tokio::test(start_paused = true)]
async fn a_namespace_that_terminates_is_no_news() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let mut bed = Bed::new().await;
    let refusal = Action::status(403)
        .reason("Forbidden")
        .message(
            "events \"web.1\" is forbidden: unable to create new content in namespace shop \
             because it is being terminated",
        )
        .details(json!({"name": "web.1", "kind": "events", "causes": [
            {"reason": "NamespaceTerminating", "message": "namespace shop is being terminated",
             "field": "metadata.namespace"}]}));
    bed.server.faults().add(creates(Rule::new(refusal)));
    bed.record(raised("one"), 1).await;
    bed.pass(minutes(10)).await;
    assert_eq!(bed.exchange(), ["POST 403"]);
    assert_eq!(log.text(), "");
    assert_eq!(bed.stop().await.dropped(DropReason::Refused), 1);
}

/// C-13, the control: no permission is one warning that names it, for a thousand events.
#[tokio::test(start_paused = true)]
async fn a_missing_permission_is_one_warning() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let mut bed = Bed::new().await;
    let refusal = Action::status(403).reason("Forbidden").message(
        "events.events.k8s.io is forbidden: User \"system:serviceaccount:shop:minrep\" cannot \
         create resource \"events\" in API group \"events.k8s.io\" in the namespace \"shop\"",
    );
    bed.server.faults().add(creates(Rule::new(refusal)));
    for pod in 0..1000 {
        bed.recorder.record(about(&format!("pod-{pod}")));
    }
    bed.pass(minutes(1)).await;
    let counts = bed.stop().await;
    assert_eq!(counts.dropped(DropReason::Refused), 1000);
    insta::assert_snapshot!(log.text(), @r#"
    WARN no permission to write events, further refusals are only counted missing="create events.events.k8s.io" error=events.events.k8s.io is forbidden: User "system:serviceaccount:shop:minrep" cannot create resource "events" in API group "events.k8s.io" in the namespace "shop"
    INFO not all events were written written=0 dropped=1000
    "#);
}

#[tokio::test(start_paused = true)]
async fn events_without_the_permission_to_patch() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let mut bed = Bed::new().await;
    let refusal = Action::status(403)
        .reason("Forbidden")
        .message("events.events.k8s.io \"web.1\" is forbidden: User \"ana\" cannot patch resource \"events\"");
    bed.server.faults().add(patches(Rule::new(refusal)));
    for (requests, note) in [(1, "one"), (2, "two"), (2, "three")] {
        bed.record(raised(note), requests).await;
    }
    let counts = bed.stop().await;
    assert_eq!(
        (counts.written, counts.dropped(DropReason::Refused)),
        (1, 2)
    );
    insta::assert_snapshot!(log.text(), @r#"
    WARN no permission to patch events, each is told of once and its repeats are only counted missing="patch events.events.k8s.io" error=events.events.k8s.io "web.1" is forbidden: User "ana" cannot patch resource "events"
    INFO not all events were written written=1 dropped=2
    "#);
}

/// Another refusal is another line, the same one is not.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_another_kind_is_told_once_too() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let mut bed = Bed::new().await;
    let quota = Action::status(403)
        .reason("Forbidden")
        .message("exceeded quota: count/events.events.k8s.io=10");
    bed.server
        .faults()
        .add(creates(Rule::new(quota)).attempts(1..=2));
    let full = Action::status(500).message("etcdserver: mvcc: database space exceeded");
    bed.server
        .faults()
        .add(creates(Rule::new(full)).attempts(3..=4));
    for pod in 0..4 {
        bed.record(about(&format!("pod-{pod}")), pod + 1).await;
    }
    bed.stop().await;
    insta::assert_snapshot!(log.text(), @r#"
    WARN an event was refused, further refusals of this kind are only counted error=exceeded quota: count/events.events.k8s.io=10
    WARN an event was refused, further refusals of this kind are only counted error=etcdserver: mvcc: database space exceeded
    INFO not all events were written written=0 dropped=4
    "#);
}

/// An outage is a line when it begins and one when it ends.
#[tokio::test(start_paused = true)]
async fn an_outage_is_two_lines() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let mut bed = Bed::new().await;
    let outage = creates(Rule::new(Action::Reset)).attempts(1..=60);
    bed.server.faults().add(outage);
    for pod in 0..20 {
        bed.recorder.record(about(&format!("pod-{pod}")));
    }
    bed.pass(minutes(2)).await;
    bed.stop().await;
    insta::assert_snapshot!(log.text(), @r#"
    WARN events cannot be written for now, they are tried again error=the connection was lost during POST /apis/events.k8s.io/v1/namespaces/shop/events: connection reset by a fault rule
    INFO events are written again
    "#);
}
