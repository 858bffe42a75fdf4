use std::path::Path;

use super::need::Need;
use super::provider::Choice;
use super::report::Report;
use super::world::World;
use super::{corners, cut, everyday, once, rules, shutdown};

/// Runs all scenarios, one after the other, and prints a line for each. `Ok(true)`: none
/// failed.
pub(super) async fn scenarios(
    mut world: World,
    plugins: &Path,
    choice: &Choice,
) -> Result<bool, String> {
    let mut report = Report::new(choice);
    let plugins = plugins.display().to_string();
    let listed = once::plugin_is_listed(&world, &plugins);
    report
        .scenario("kubectl plugin list finds the plugin", listed)
        .await;
    report
        .scenario("kubectl minrep version", once::version(&world))
        .await;

    let name = "kubectl get -w shows 1 become 2, and both Pods Ready";
    report.scenario(name, rules::watched(&mut world)).await;
    report
        .scenario(
            "scaled to 1 again, it is raised again",
            rules::raised_again(&world),
        )
        .await;
    report
        .scenario("not touched: without the label", rules::unlabelled(&world))
        .await;
    report
        .scenario("not touched: at 3", rules::satisfied(&world))
        .await;
    report
        .scenario(
            "not touched: owned by a controller object",
            rules::owned(&world),
        )
        .await;
    report
        .scenario("not touched: with an autoscaler", rules::autoscaled(&world))
        .await;
    report
        .scenario("not touched: label removed", rules::label_removed(&world))
        .await;
    report
        .scenario("deleted: \"no longer exists\"", rules::deleted(&world))
        .await;
    report
        .scenario("raised within 1 s of its apply", rules::timed(&world))
        .await;
    let ended = shutdown::idle(&mut world);
    report.scenario("SIGTERM at rest ends with 0", ended).await;
    let ended = shutdown::in_the_middle(&mut world);
    report
        .scenario("SIGTERM in the middle finishes what is in line", ended)
        .await;

    report
        .scenario(
            "reconcile once: a server dry run stores nothing",
            once::dry_run(&world),
        )
        .await;
    report
        .scenario("reconcile once raises a fresh one", once::raises(&world))
        .await;

    let resumed = cut::resumed(&mut world);
    report
        .scenario("every watch cut, a deletion meanwhile: resumed", resumed)
        .await;
    let relisted = cut::relisted(&mut world);
    report
        .scenario("every watch cut, a deletion meanwhile: relisted", relisted)
        .await;
    corners::run(&mut world, &mut report).await;
    // It makes a namespace of its own.
    let everyday = everyday::run(&world.cluster, &mut report, &[Need::ClusterScope]);
    everyday.await?;
    Ok(report.close(&world.logs))
}
