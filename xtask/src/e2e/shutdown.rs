//! The end of the controller.

use super::manifest;
use super::world::{BOUND, World};

/// How many Deployments are applied at once, so that some are left when it is told to end.
const MANY: usize = 30;

/// SIGTERM in the middle of work: what is in line is worked off, and the exit code is 0.
pub(super) async fn in_the_middle(world: &mut World) -> Result<(), String> {
    let mark = world.mark()?;
    let names: Vec<String> = (1..=MANY).map(|number| format!("many-{number}")).collect();
    let items: Vec<_> = names
        .iter()
        .map(|name| manifest::opted_in(name, 1))
        .collect();
    let manifest = manifest::list(&items);
    let apply = world.cluster.apply(&manifest);
    let first_raise = async {
        world.logged(mark, "many-1", "scaled from 1 to 2").await?;
        world
            .controller()?
            .terminate()
            .map_err(|error| error.to_string())
    };
    tokio::try_join!(apply, first_raise)?;

    let controller = world.take_controller()?;
    let closing = controller
        .lines()
        .wait_for("\"Stopped after\"", mark, BOUND, |line| {
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
    if !closing.text.contains("0 failing") || closing.text.contains("not looked at") {
        return Err(format!("it left something behind: {}", closing.text));
    }
    Ok(())
}
