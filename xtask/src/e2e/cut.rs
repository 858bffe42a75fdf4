//! Watches that are cut, and what happened meanwhile.

use std::time::Duration;

use sim_apiserver::faults::{Action, Cut, Ending, Rule, RuleId, Verb};
use tokio::time::{interval, timeout};

use super::manifest;
use super::world::{BOUND, World};

/// How long a watch lives before it is cut.
const LIFE: Duration = Duration::from_secs(1);

/// The server cannot be reached for a while: the watch goes on where it was.
pub(super) async fn resumed(world: &mut World) -> Result<(), String> {
    let refusal = Action::status(503).message("the watch was cut by the test");
    meanwhile(world, "resumed", refusal.into()).await
}

/// The history is gone, too: what happened meanwhile must be found by a list.
pub(super) async fn relisted(world: &mut World) -> Result<(), String> {
    meanwhile(world, "relisted", Action::Expired).await
}

/// Cuts every watch of the controller and refuses new ones by `refusal`, until one
/// Deployment was deleted, one was applied, and one was scaled down.
async fn meanwhile(world: &mut World, prefix: &str, refusal: Action) -> Result<(), String> {
    let name = |suffix: &str| format!("{prefix}-{suffix}");
    let (gone, fresh, lowered) = (name("gone"), name("fresh"), name("lowered"));
    let faults = world.faults.clone();
    faults.clear();
    let cut = Cut {
        how: Ending::Reset,
        ..Action::cut_after(LIFE)
    };
    let cuts = faults.add(Rule::new(cut).verb(Verb::Watch));
    for existing in [&gone, &lowered] {
        world
            .cluster
            .apply(&manifest::opted_in(existing, 1))
            .await?;
    }
    world.start_faulty_controller(&format!("controller-{prefix}"))?;
    for existing in [&gone, &lowered] {
        world.logged(0, existing, "scaled from 1 to 2").await?;
    }

    // Every watch that is open now was opened under the first rule, and will be cut.
    let refused = faults.add(
        Rule::new(refusal.clone())
            .verb(Verb::Watch)
            .resource("deployments"),
    );
    faults.add(Rule::new(refusal).verb(Verb::Watch));
    faults.remove(cuts);
    fired(world, refused).await?;
    let mark = world.mark()?;
    // It must not wait for the end: kubectl would watch.
    let delete = ["delete", "deploy", &gone, "--wait=false"];
    world.cluster.kubectl(&delete).await?;
    let scale = ["scale", "deploy", &lowered, "--replicas=1"];
    world.cluster.kubectl(&scale).await?;
    world.cluster.apply(&manifest::opted_in(&fresh, 1)).await?;
    faults.clear();

    world.logged(mark, &gone, "no longer exists").await?;
    for raised in [&lowered, &fresh] {
        world.logged(mark, raised, "scaled from 1 to 2").await?;
        world.cluster.wait_replicas(raised, 2).await?;
    }
    world.stop_controller().await
}

async fn fired(world: &World, rule: RuleId) -> Result<(), String> {
    let mut look = interval(Duration::from_millis(20));
    let wait = async {
        while world.faults.fired(rule) == 0 {
            look.tick().await;
        }
    };
    let late = |_| "no watch of Deployments was tried again after the cut".to_owned();
    timeout(BOUND, wait).await.map_err(late)
}
