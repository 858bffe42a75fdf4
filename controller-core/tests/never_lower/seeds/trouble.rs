use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use sim_apiserver::faults::{Action, Cut, Ending, Past, Rule, Verb};
use tokio::time::timeout;

use super::stage::{NAMES, Stage, autoscaler, deployment};

/// How long a crash waits for a write to crash at.
const ENOUGH: Duration = Duration::from_secs(5);

/// One thing happens.
pub(super) async fn strike(stage: &mut Stage, random: &mut StdRng) {
    let name = NAMES[random.random_range(0..NAMES.len())];
    match random.random_range(0..15) {
        0..4 => scale(stage, name, random.random_range(0..5)),
        4 => toggle_label(stage, name),
        5 => come_or_go(stage, name),
        6 => autoscale(stage, name),
        7..11 => {
            stage.server.faults().add(fault(random));
        }
        11 => stage.server.faults().clear(),
        12 => crash_at_a_write(stage).await,
        _ => {
            let time = 10_u64.pow(random.random_range(0..6));
            stage.wait(Duration::from_millis(time)).await;
        }
    }
    // Sometimes much happens at one moment.
    if random.random_bool(0.5) {
        stage
            .wait(Duration::from_millis(random.random_range(0..50)))
            .await;
    }
    if stage.controller.is_dead() {
        stage.restart().await;
    }
}

fn scale(stage: &Stage, name: &str, replicas: i64) {
    stage
        .server
        .mutate("deployments", "shop", name, |deployment| {
            deployment["spec"]["replicas"] = replicas.into();
        });
}

fn toggle_label(stage: &Stage, name: &str) {
    stage
        .server
        .mutate("deployments", "shop", name, |deployment| {
            let label = &mut deployment["metadata"]["labels"]["demo/min-replicas"];
            let other = if *label == "true" { "false" } else { "true" };
            *label = other.into();
        });
}

/// Deleted in the foreground, or gone at once, or made anew under the same name.
fn come_or_go(stage: &Stage, name: &str) {
    let server = &stage.server;
    match server.object("deployments", "shop", name) {
        None => {
            server.seed(deployment(name, 1));
        }
        Some(old) if old["metadata"]["deletionTimestamp"].is_null() => {
            server.mutate("deployments", "shop", name, |deployment| {
                deployment["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
                deployment["metadata"]["finalizers"] = ["foregroundDeletion"].as_slice().into();
            });
        }
        Some(_) => {
            server.remove("deployments", "shop", name);
        }
    }
}

fn autoscale(stage: &Stage, name: &str) {
    if !stage
        .server
        .remove("horizontalpodautoscalers", "shop", name)
    {
        stage.server.seed(autoscaler(name));
    }
}

/// The process dies when a write of it has just reached the server, and starts again.
async fn crash_at_a_write(stage: &mut Stage) {
    let is_write = |request: &sim_apiserver::Recorded| request.verb() == Verb::Patch;
    let before = stage.server.requests_where(is_write).len();
    let more = stage.server.wait_for_requests(|requests| {
        requests.iter().filter(|request| is_write(request)).count() > before
    });
    // If there is none it dies all the same.
    let _ = timeout(ENOUGH, more).await;
    stage.restart().await;
}

/// A few requests meet this.
fn fault(random: &mut StdRng) -> Rule {
    let attempts = 1..=random.random_range(1..4);
    let reads = [Verb::Get, Verb::List, Verb::Watch];
    let read = reads[random.random_range(0..reads.len())];
    let stale = Past::Behind(random.random_range(1..20));
    let rule = match random.random_range(0..10) {
        0 => Rule::new(Action::LostAnswer).verb(Verb::Patch),
        1 => Rule::new(Action::Reset).verb(Verb::Patch),
        2 => Rule::new(Action::status(500)).verb(Verb::Patch),
        3 => Rule::new(Action::status(409)).verb(Verb::Patch),
        4 => Rule::new(Action::Delay(Duration::from_secs(
            random.random_range(1..60),
        )))
        .verb(Verb::Patch),
        5 => Rule::new(Action::AnswerFrom(stale)).verb(read),
        6 => Rule::new(Action::status(503)).verb(read),
        7 => Rule::new(Action::false_answer(Action::status(500))).verb(Verb::Patch),
        8 => Rule::new(Action::half_open_after_events(random.random_range(0..3))).verb(Verb::Watch),
        _ => {
            let cut = Cut {
                how: Ending::Reset,
                ..Action::cut_after_events(random.random_range(0..3))
            };
            Rule::new(cut).verb(Verb::Watch)
        }
    };
    rule.attempts(attempts)
}
