//! The rule, with the controller running.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::manifest::{self, LABEL};
use super::world::{BOUND, World};
use crate::process::Running;
use crate::task::root;

/// How many Deployments are timed.
const TIMED: usize = 5;

/// On an idle machine a Deployment is raised within this.
const GOAL: Duration = Duration::from_secs(1);

/// `kubectl get deploy nginx-demo -w` shows 1 become 2 while the controller runs, and both
/// Pods become Ready.
pub(super) async fn watched(world: &mut World) -> Result<(), String> {
    let sample = root().join("manifests/samples/nginx-demo.yaml");
    let sample = sample.display().to_string();
    world.cluster.kubectl(&["apply", "-f", &sample]).await?;
    let command = world
        .cluster
        .command(&["get", "deploy", "nginx-demo", "-w"]);
    let watch = Running::start(command, |_| {}).map_err(|error| error.to_string())?;
    let ready = |wanted: &'static str| {
        move |line: &str| {
            let mut columns = line.split_whitespace();
            columns.next() == Some("nginx-demo")
                && columns
                    .next()
                    .is_some_and(|column| column.ends_with(wanted))
        }
    };
    let lines = watch.lines();
    lines.wait_for("READY n/1", 0, BOUND, ready("/1")).await?;
    let before = lines.len();
    world.start_controller("controller")?;
    lines
        .wait_for("READY n/2", before, BOUND, ready("/2"))
        .await?;
    lines
        .wait_for("READY 2/2", before, BOUND, ready("2/2"))
        .await?;
    watch.stop(BOUND).await.map_err(|error| error.to_string())?;
    world
        .logged(0, "nginx-demo", "scaled from 1 to 2")
        .await
        .map(drop)
}

/// Scaled to 1 again, it is raised again.
pub(super) async fn raised_again(world: &World) -> Result<(), String> {
    let mark = world.mark()?;
    let arguments = ["scale", "deploy", "nginx-demo", "--replicas=1"];
    world.cluster.kubectl(&arguments).await?;
    world
        .logged(mark, "nginx-demo", "scaled from 1 to 2")
        .await?;
    world.cluster.wait_replicas("nginx-demo", 2).await
}

/// An unlabelled Deployment is never heard of.
pub(super) async fn unlabelled(world: &World) -> Result<(), String> {
    world
        .cluster
        .apply(&manifest::deployment("unlabelled", 1))
        .await?;
    world.sentinel("after-unlabelled").await?;
    untouched(world, "unlabelled", 1, 1).await?;
    let log = world.controller()?.lines().texts();
    match log
        .iter()
        .find(|line| line.contains("deployment.apps/unlabelled "))
    {
        Some(line) => Err(format!("the controller has an opinion on it: {line}")),
        None => Ok(()),
    }
}

/// One at 3 satisfies the minimum.
pub(super) async fn satisfied(world: &World) -> Result<(), String> {
    world.cluster.apply(&manifest::opted_in("three", 3)).await?;
    world.logged(0, "three", "already satisfies").await?;
    world.sentinel("after-three").await?;
    untouched(world, "three", 3, 1).await
}

/// One with a living controller object is that one's business.
pub(super) async fn owned(world: &World) -> Result<(), String> {
    world.cluster.apply(&manifest::config_map("owner")).await?;
    let owner = world.cluster.object("configmap", "owner").await?;
    world
        .cluster
        .apply(&manifest::owned("owned", &owner))
        .await?;
    world.logged(0, "owned", "owned by ConfigMap").await?;
    world.sentinel("after-owned").await?;
    untouched(world, "owned", 1, 1).await
}

/// One with an autoscaler is that one's business.
pub(super) async fn autoscaled(world: &World) -> Result<(), String> {
    world
        .cluster
        .apply(&manifest::autoscaler("autoscaled"))
        .await?;
    world.sentinel("between").await?;
    world
        .cluster
        .apply(&manifest::opted_in("autoscaled", 1))
        .await?;
    world.logged(0, "autoscaled", "autoscaled by").await?;
    world.sentinel("after-autoscaled").await?;
    untouched(world, "autoscaled", 1, 1).await
}

/// One whose label was removed has opted out.
pub(super) async fn label_removed(world: &World) -> Result<(), String> {
    world
        .cluster
        .apply(&manifest::opted_in("leaver", 2))
        .await?;
    world.logged(0, "leaver", "already satisfies").await?;
    let removal = format!("{LABEL}-");
    let label = ["label", "deploy", "leaver", &removal];
    world.cluster.kubectl(&label).await?;
    world.logged(0, "leaver", "no longer opted in").await?;
    let scale = ["scale", "deploy", "leaver", "--replicas=1"];
    world.cluster.kubectl(&scale).await?;
    world.sentinel("after-leaver").await?;
    // The scaling was the second change of its spec.
    untouched(world, "leaver", 1, 2).await
}

/// A Deployment that is deleted "no longer exists".
pub(super) async fn deleted(world: &World) -> Result<(), String> {
    let mark = world.mark()?;
    let arguments = ["delete", "deploy", "nginx-demo"];
    world.cluster.kubectl(&arguments).await?;
    world
        .logged(mark, "nginx-demo", "no longer exists")
        .await
        .map(drop)
}

/// Prints the median time from the start of `kubectl apply` to the controller's line.
pub(super) async fn timed(world: &World) -> Result<(), String> {
    let mut times = Vec::with_capacity(TIMED);
    for number in 1..=TIMED {
        let name = format!("timed-{number}");
        let start = Instant::now();
        world.cluster.apply(&manifest::opted_in(&name, 1)).await?;
        let line = world.logged(0, &name, "scaled from 1 to 2").await?;
        times.push(line.at.saturating_duration_since(start));
    }
    times.sort_unstable();
    let median = times[TIMED / 2];
    println!(
        "median {:.2} s from the start of `kubectl apply` to the raise, of {TIMED} ({:.2} to {:.2} s)",
        median.as_secs_f64(),
        times[0].as_secs_f64(),
        times[TIMED - 1].as_secs_f64(),
    );
    if median > GOAL {
        return Err(format!("more than {} s", GOAL.as_secs()));
    }
    Ok(())
}

/// Nobody has changed the spec since: every change of it counts the generation up.
async fn untouched(
    world: &World,
    name: &str,
    replicas: u64,
    generation: u64,
) -> Result<(), String> {
    let object = world.cluster.deployment(name).await?;
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let found = (
        number(&object["spec"]["replicas"]),
        number(&object["metadata"]["generation"]),
    );
    if found == (replicas, generation) {
        return Ok(());
    }
    Err(format!(
        "{name} has {} replicas in generation {}, not {replicas} in {generation}",
        found.0, found.1
    ))
}
