use serde_json::Value;

use crate::e2e::manifest;
use crate::e2e::world::{BOUND, World};

/// How many Deployments both want to raise.
const MANY: usize = 20;

/// Whoever is second meets a 409, looks, and finds it done.
pub(super) async fn two_runs_at_once(world: &mut World) -> Result<(), String> {
    let name = |number: usize| format!("both-{number}");
    let items: Vec<Value> = (1..=MANY)
        .map(|number| manifest::opted_in(&name(number), 1))
        .collect();
    world.cluster.apply(&manifest::list(&items)).await?;
    world.start_controller("controller-first")?;
    let first = world.take_controller()?;
    world.start_controller("controller-second")?;
    for number in 1..=MANY {
        world.cluster.wait_replicas(&name(number), 2).await?;
    }
    let second = world.take_controller()?;
    let mut logs = first.lines().texts();
    logs.extend(second.lines().texts());
    for controller in [first, second] {
        let status = controller.stop(BOUND).await;
        let status = status.map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("one ended with {status}"));
        }
    }
    for number in 1..=MANY {
        let object = world.cluster.deployment(&name(number)).await?;
        let generation = &object["metadata"]["generation"];
        if *generation != 2 {
            return Err(format!("{} is in generation {generation}", name(number)));
        }
    }
    // One of the two has raised each, and the other found it done.
    let raised = logs.iter().filter(|line| {
        line.contains("deployment.apps/both-") && line.contains("scaled from 1 to 2")
    });
    match raised.count() {
        MANY => Ok(()),
        count => Err(format!("{count} raises of {MANY} were told of")),
    }
}
