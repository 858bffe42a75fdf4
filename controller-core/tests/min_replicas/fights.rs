//! Somebody lowers what we raise.

use controller_core::controllers::min_replicas::{HpaPolicy, Settings};
use controller_core::worker::Outcome;
use serde_json::{Value, json};
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Duration, Instant, advance, timeout};

use crate::bed::Bed;
use crate::fixture::settings;

const MINUTE: Duration = Duration::from_secs(60);

/// Lowers `web` as another program would, and lets the cache see it.
async fn lower(bed: &mut Bed) {
    bed.meanwhile(|object| {
        object["spec"]["replicas"] = json!(1);
        object["metadata"]["managedFields"] = owned_by("argocd-controller", "replicas");
    });
    bed.observe("web");
}

fn owned_by(manager: &str, field: &str) -> Value {
    json!([{
        "manager": manager, "operation": "Update", "apiVersion": "apps/v1",
        "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {format!("f:{field}"): {}}},
    }])
}

/// Reconciles and lowers until nothing is raised any more. Returns how often it was.
async fn fight(bed: &mut Bed) -> usize {
    for raises in 0..100 {
        let before = bed.patches().len();
        bed.reconcile_web().await.unwrap();
        if bed.patches().len() == before {
            return raises;
        }
        lower(bed).await;
    }
    panic!("raised a hundred times");
}

#[tokio::test(start_paused = true)]
async fn the_fourth_raise_waits_and_the_opponent_is_named() {
    let mut bed = Bed::with_web().await;
    assert_eq!(fight(&mut bed).await, 3);
    let reports = bed.reports.take();
    assert_eq!(
        reports[3],
        "in a fight: raised again and again and still below the minimum; field \
         manager \"argocd-controller\" owns spec.replicas; the next raise waits 1m"
    );
    // One live read named it, and one is enough for as long as the wait lasts.
    bed.reconcile_web().await.unwrap();
    let reads = bed
        .exchange()
        .iter()
        .filter(|it| it.starts_with("GET"))
        .count();
    assert_eq!(reads, 1);
    assert_eq!(bed.reports.take(), [reports[3].clone()]);
}

#[tokio::test(start_paused = true)]
async fn each_further_raise_waits_twice_as_long() {
    let mut bed = Bed::with_web().await;
    fight(&mut bed).await;
    let mut waits = Vec::new();
    for _ in 0..8 {
        let asked = Instant::now();
        while let Outcome::RequeueAfter(wait) = bed.reconcile_web().await.unwrap() {
            advance(wait).await;
        }
        waits.push(asked.elapsed().as_secs() / 60);
        lower(&mut bed).await;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
}

/// Events wake the key all the time; the wait is not shortened by any of them.
#[tokio::test(start_paused = true)]
async fn an_event_does_not_shorten_the_wait() {
    let mut bed = Bed::with_web().await;
    fight(&mut bed).await;
    let until = Instant::now() + MINUTE;
    while Instant::now() + Duration::from_secs(1) < until {
        advance(Duration::from_secs(1)).await;
        let outcome = bed.reconcile_web().await.unwrap();
        let left = until - Instant::now();
        assert_eq!(outcome, Outcome::RequeueAfter(left));
    }
    assert_eq!(bed.patches().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_stays_up_is_no_fight() {
    let mut bed = Bed::with_web().await;
    for _ in 0..10 {
        bed.reconcile_web().await.unwrap();
        advance(6 * MINUTE).await;
        lower(&mut bed).await;
    }
    assert_eq!(bed.patches().len(), 10);
}

/// It may have been applied each time: nobody knows.
#[tokio::test(start_paused = true)]
async fn lost_answers_count() {
    let mut bed = Bed::with_web().await;
    let lost = Rule::new(Action::LostAnswer).verb(Verb::Patch);
    bed.faults().add(lost);
    assert_eq!(fight(&mut bed).await, 3);
}

/// A storage that answers too late: the write is there, and the server says that it is not.
#[tokio::test(start_paused = true)]
async fn a_write_that_was_stored_counts_whatever_the_server_says() {
    for code in [500, 503] {
        let mut bed = Bed::with_web().await;
        let stored = Action::false_answer(Action::status(code));
        bed.faults().add(Rule::new(stored).verb(Verb::Patch));
        assert_eq!(fight(&mut bed).await, 3, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_do_not_count() {
    let bed = Bed::with_web().await;
    let refused = Rule::new(Action::status(500)).verb(Verb::Patch);
    bed.faults().add(refused);
    for _ in 0..10 {
        bed.reconcile_web().await.unwrap_err();
        advance(6 * MINUTE).await;
    }
    assert_eq!(bed.patches().len(), 10);
}

/// A raise that was decided and, at the last moment, not sent.
#[tokio::test(start_paused = true)]
async fn what_was_not_sent_does_not_count() {
    let mut bed = Bed::with_web().await;
    bed.unobserve_namespaces();
    bed.pause_namespace();
    for _ in 0..5 {
        bed.reconcile_web().await.unwrap();
    }
    assert!(bed.patches().is_empty());
    let there = bed.server.mutate("namespaces", "", "shop", |object| {
        object["metadata"]["annotations"] = json!({});
    });
    assert!(there);
    assert_eq!(fight(&mut bed).await, 3);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_was_made_again_begins_anew() {
    let mut bed = Bed::with_web().await;
    fight(&mut bed).await;
    bed.server.remove("deployments", "shop", "web");
    bed.seed("web", |_| ());
    assert_eq!(fight(&mut bed).await, 3);
}

/// The wait is known all the same. Events wake the key all the time, and a server in trouble is
/// not asked with each of them: only in the next round.
#[tokio::test(start_paused = true)]
async fn an_opponent_who_cannot_be_looked_up_is_looked_up_in_the_next_round() {
    let mut bed = Bed::with_web().await;
    let unread = Rule::new(Action::status(500)).verb(Verb::Get);
    let unread = bed.faults().add(unread);
    fight(&mut bed).await;
    for _ in 0..50 {
        advance(Duration::from_secs(1)).await;
        bed.reconcile_web().await.unwrap();
        let said = bed.reports.take().pop().unwrap();
        assert!(said.contains("who owns spec.replicas could not"), "{said}");
    }
    let reads = |bed: &Bed| {
        let exchange = bed.exchange();
        exchange.iter().filter(|it| it.starts_with("GET")).count()
    };
    assert_eq!(reads(&bed), 1);
    bed.faults().remove(unread);
    advance(Duration::from_secs(10)).await;
    fight(&mut bed).await;
    let said = bed.reports.take().pop().unwrap();
    assert!(said.contains("\"argocd-controller\" owns"), "{said}");
    assert_eq!(reads(&bed), 2);
}

/// Its call ran into its deadline each time: that is no reason to ask each time.
#[tokio::test(start_paused = true)]
async fn a_look_for_the_opponent_that_is_given_up_is_a_look() {
    let mut bed = Bed::with_web().await;
    for _ in 0..3 {
        bed.reconcile_web().await.unwrap();
        lower(&mut bed).await;
    }
    bed.faults().add(Rule::new(Action::Hang).verb(Verb::Get));
    let second = Duration::from_secs(1);
    let gave_up = timeout(second, bed.reconcile_web()).await;
    assert!(gave_up.is_err());
    let outcome = timeout(second, bed.reconcile_web()).await.unwrap();
    assert!(
        matches!(outcome, Ok(Outcome::RequeueAfter(_))),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_autoscalers_minimum_can_be_fought_over_too() {
    let raise_min = |settings: &mut Settings| settings.hpa = HpaPolicy::RaiseMin;
    let mut bed = Bed::start(settings(raise_min)).await;
    bed.seed("web", |_| ());
    for _ in 0..3 {
        bed.seed_autoscaler("web-hpa", |object| {
            object["metadata"]["managedFields"] = owned_by("helm", "minReplicas");
        });
        bed.reconcile_web().await.unwrap();
    }
    bed.seed_autoscaler("web-hpa", |object| {
        object["metadata"]["managedFields"] = owned_by("helm", "minReplicas");
    });
    bed.reconcile_web().await.unwrap();
    assert_eq!(
        bed.reports.take()[3],
        "in a fight: raised again and again and still below the minimum; field \
         manager \"helm\" owns minReplicas of HorizontalPodAutoscaler web-hpa; the next raise \
         waits 1m"
    );
    assert_eq!(bed.patches().len(), 3);
}
