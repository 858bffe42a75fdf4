use super::{contested, moving, refused, twice};
use crate::e2e::need::Need;
use crate::e2e::report::Report;
use crate::e2e::world::World;

/// Runs them all; each starts and ends its own controllers.
pub(in crate::e2e) async fn run(world: &mut World, report: &mut Report<'_>) {
    let fight = contested::autoscaler_that_lowers(world);
    report
        .scenario_with(
            &[Need::QuickAutoscaler],
            "an autoscaler lowers it again and again: a fight",
            fight,
        )
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
    let needs = [Need::AdmissionPolicies, Need::ClusterScope];
    report
        .scenario_with(
            &needs,
            "a policy refuses one, and no other waits for it",
            policy,
        )
        .await;
    let quota = refused::by_a_quota(world);
    let needs = [Need::Quotas, Need::ClusterScope];
    report
        .scenario_with(
            &needs,
            "a quota blocks its Pods: raised once, and no more",
            quota,
        )
        .await;
    let two = twice::two_runs_at_once(world);
    report
        .scenario("two runs at once write each raise once", two)
        .await;
    clean_up(world, report).await;
}

/// What a scenario that failed has left must not disturb those that follow.
async fn clean_up(world: &mut World, report: &Report<'_>) {
    // None is running if all went well.
    let _ = world.stop_controller().await;
    let release = r#"{"metadata":{"finalizers":null}}"#;
    let mut leftovers = vec![
        format!("patch deploy held --type=merge -p {release}"),
        "delete hpa,deploy --all".to_owned(),
    ];
    // Where no scenario has made these, they are somebody's.
    if report.gives(Need::ClusterScope) {
        for object in [
            "validatingadmissionpolicybinding minrep-e2e",
            "validatingadmissionpolicy minrep-e2e",
            "namespace tight",
        ] {
            leftovers.push(format!("delete {object} --ignore-not-found"));
        }
    }
    for leftover in &leftovers {
        let arguments: Vec<&str> = leftover.split(' ').collect();
        // There is mostly nothing to be done.
        let _ = world.cluster.output(&arguments, "").await;
    }
}
