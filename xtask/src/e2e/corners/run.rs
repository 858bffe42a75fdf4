use super::{contested, moving, refused, twice};
use crate::e2e::report::Report;
use crate::e2e::world::World;

/// Runs them all; each starts and ends its own controllers.
pub(in crate::e2e) async fn run(world: &mut World, report: &mut Report) {
    let fight = contested::autoscaler_that_lowers(world);
    report
        .scenario("an autoscaler lowers it again and again: a fight", fight)
        .await;
    let rollout = moving::rollout(world);
    report
        .scenario("raised in the middle of a rollout", rollout)
        .await;
    let paused = moving::paused(world);
    report
        .scenario("raised while its rollout is paused", paused)
        .await;
    let deleted = moving::deleted_in_the_foreground(world);
    report
        .scenario("not touched: being deleted in the foreground", deleted)
        .await;
    let recreated = moving::recreated(world);
    report
        .scenario("recreated under its name, it is raised again", recreated)
        .await;
    let policy = refused::by_a_policy(world);
    report
        .scenario("a policy refuses one, and no other waits for it", policy)
        .await;
    let quota = refused::by_a_quota(world);
    report
        .scenario("a quota blocks its Pods: raised once, and no more", quota)
        .await;
    let two = twice::two_runs_at_once(world);
    report
        .scenario("two runs at once write each raise once", two)
        .await;
    clean_up(world).await;
}

/// What a scenario that failed has left must not disturb those that follow.
async fn clean_up(world: &mut World) {
    // None is running if all went well.
    let _ = world.stop_controller().await;
    let release = r#"{"metadata":{"finalizers":null}}"#;
    let leftovers = [
        format!("patch deploy held -n default --type=merge -p {release}"),
        "delete validatingadmissionpolicybinding minrep-e2e --ignore-not-found".to_owned(),
        "delete validatingadmissionpolicy minrep-e2e --ignore-not-found".to_owned(),
        "delete namespace tight --ignore-not-found".to_owned(),
        "delete hpa,deploy --all -n default".to_owned(),
    ];
    for leftover in &leftovers {
        let arguments: Vec<&str> = leftover.split(' ').collect();
        // There is mostly nothing to be done.
        let _ = world.cluster.output(&arguments, "").await;
    }
}
