use serde_json::json;

use crate::e2e::manifest;
use crate::e2e::world::World;

/// An autoscaler allows one replica and is ignored: three raises do not last, and then the
/// raises wait.
pub(super) async fn autoscaler_that_lowers(world: &mut World) -> Result<(), String> {
    let mut autoscaler = manifest::autoscaler("contested");
    autoscaler["spec"]["maxReplicas"] = json!(1);
    world.cluster.apply(&autoscaler).await?;
    world.start_controller_with("controller-fight", &["--hpa=ignore"])?;
    world
        .cluster
        .apply(&manifest::opted_in("contested", 1))
        .await?;
    let line = world.logged(0, "contested", "in a fight").await?;
    let named = line.text.contains("owns spec.replicas");
    // What comes next waits a minute: another one is raised meanwhile, and this one is not.
    world.sentinel("after-contested").await?;
    let lines = world.controller()?.lines().texts();
    let raises = lines
        .iter()
        .filter(|line| line.contains("deployment.apps/contested scaled from 1 to 2"))
        .count();
    world.stop_controller().await?;
    let events = ["events", "--for=deployment/contested"];
    let events = world.cluster.kubectl(&events).await?;
    for reason in ["Raised", "Fight"] {
        if !events.contains(reason) {
            return Err(format!("no event says {reason}:\n{events}"));
        }
    }
    world
        .delete(&["hpa/contested", "deployment/contested"])
        .await?;
    match (raises, named) {
        (3, true) => Ok(()),
        (3, false) => Err(format!("it does not say who lowers it: {}", line.text)),
        (count, _) => Err(format!("it was raised {count} times, not 3")),
    }
}
