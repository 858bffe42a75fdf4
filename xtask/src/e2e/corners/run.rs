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
}
