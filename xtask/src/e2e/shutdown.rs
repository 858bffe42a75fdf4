//! The end of the controller.

use serde_json::Value;

use super::manifest;
use super::world::{BOUND, World};
use crate::process::Running;

/// How many Deployments stand in line when it is told to end.
const MANY: usize = 30;

/// SIGTERM while nothing is to be done.
pub(super) async fn idle(world: &mut World) -> Result<(), String> {
    let controller = world.take_controller()?;
    controller.terminate().map_err(|error| error.to_string())?;
    ended_well(controller, "0 failing").await
}

/// SIGTERM in the middle of work: everything that is in line is worked off first.
pub(super) async fn in_the_middle(world: &mut World) -> Result<(), String> {
    let items: Vec<Value> = (1..=MANY)
        .map(|number| manifest::opted_in(&format!("many-{number}"), 1))
        .collect();
    world.cluster.apply(&manifest::list(&items)).await?;
    world.start_controller("controller-stopped")?;
    let controller = world.take_controller()?;
    controller
        .lines()
        .wait_for("the first raise", 0, BOUND, |line| {
            line.contains("scaled from 1 to 2")
        })
        .await?;
    controller.terminate().map_err(|error| error.to_string())?;
    ended_well(controller, &format!("{MANY} raised, 0 failing")).await?;
    let arguments = ["get", "deploy", "-o", "json"];
    let text = world.cluster.kubectl(&arguments).await?;
    let list: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let raised = list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| {
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            name.starts_with("many-") && item["spec"]["replicas"] == 2
        });
    match raised.count() {
        // A node has room for some hundred Pods, and the next scenarios need some.
        MANY => {
            world
                .kubectl(&["delete", "deploy", "--all", "--wait=false"])
                .await
        }
        count => Err(format!("{count} of {MANY} were raised")),
    }
}

/// Exit code 0, and a closing line with `words`, and nothing left behind.
async fn ended_well(controller: Running, words: &str) -> Result<(), String> {
    let closing = controller
        .lines()
        .wait_for("\"Stopped after\"", 0, BOUND, |line| {
            line.contains("Stopped after")
        })
        .await?;
    let status = controller
        .ended(BOUND)
        .await
        .map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("the controller ended with {status}"));
    }
    if !closing.text.ends_with(words) {
        return Err(format!("its last line is: {}", closing.text));
    }
    Ok(())
}
