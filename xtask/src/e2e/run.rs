use std::error::Error;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use super::cluster::Cluster;
use super::flags::{E2e, Provider, Set};
use super::provider::{Built, Provided};
use super::report::Report;
use super::world::World;
use super::{corners, cut, everyday, once, rules, scale, shutdown};
use crate::control_plane;
use crate::plugin::{self, Profile};
use crate::process::interrupted;
use crate::task::root;

/// Runs all scenarios. `Ok(true)`: none failed.
pub(crate) async fn run(flags: E2e) -> Result<bool, Box<dyn Error>> {
    let logs = root().join("target/e2e");
    std::fs::create_dir_all(&logs)?;
    // All of this can take minutes. It comes first, because an interrupt ends it at once, and with it
    // nothing that would have to be removed.
    let profile = match flags.set {
        Set::Scenarios => Profile::Dev,
        Set::Scale => Profile::Release,
    };
    let plugin = plugin::build(profile)?;
    let kubectl = control_plane::kubectl()?;
    let built = Built::of(flags.provider)?;

    let mut stop = pin!(interrupted());
    let plugins = tempfile::Builder::new().prefix("minrep-e2e-").tempdir()?;
    install(&plugin, plugins.path())?;
    let cluster = |kubeconfig| Cluster::new(kubectl.clone(), kubeconfig, plugins.path());
    if flags.set == Set::Scale {
        let Built::ControlPlane(binary) = &built else {
            return Err("--set scale needs --provider control-plane".into());
        };
        let steady = Duration::from_secs(flags.steady);
        let measured = scale::run(binary, cluster, &logs, steady);
        return tokio::select! {
            biased;
            _ = &mut stop => Ok(false),
            measured = measured => measured,
        };
    }
    let server = tokio::select! {
        // First: the signals are caught from the first look on.
        biased;
        _ = &mut stop => return Ok(false),
        server = Provided::start(&built, &logs) => server?,
    };
    let world = World::new(
        cluster(server.kubeconfig()),
        cluster(server.faulty_kubeconfig()),
        server.faults(),
        logs,
    );
    let good = tokio::select! {
        good = scenarios(world, plugins.path(), flags.provider) => good,
        _ = &mut stop => Ok(false),
    };
    server.stop().await?;
    Ok(good?)
}

async fn scenarios(mut world: World, plugins: &Path, provider: Provider) -> Result<bool, String> {
    let mut report = Report::default();
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
    if provider == Provider::ControlPlane {
        corners::run(&mut world, &mut report).await;
    }
    everyday::run(&world.cluster, &mut report).await?;
    Ok(report.close(&world.logs))
}

/// Under the name by which kubectl finds it, and alone in its folder.
fn install(plugin: &Path, folder: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(plugin, folder.join("kubectl-minrep"))
}
