//! `kubectl minrep reconcile once` and `version`, without a controller running.

use serde_json::Value;

use super::manifest;
use super::world::World;

const NAME: &str = "fresh";

/// kubectl finds the plugin and has nothing to warn of.
pub(super) async fn plugin_is_listed(world: &World, plugins: &str) -> Result<(), String> {
    let mut command = world.cluster.command(&["plugin", "list"]);
    // Alone on PATH: what else is installed on this machine is not to be judged.
    let output = command.env("PATH", plugins).output().await;
    let output = output.map_err(|error| error.to_string())?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let found = stdout.contains(&format!("{plugins}/kubectl-minrep"));
    let warns = stdout.contains("warning") || !stderr.trim().is_empty();
    if output.status.success() && found && !warns {
        Ok(())
    } else {
        Err(format!("{}\n{stdout}{stderr}", output.status))
    }
}

/// `kubectl minrep version` prints this version.
pub(super) async fn version(world: &World) -> Result<(), String> {
    let text = world.cluster.kubectl(&["minrep", "version"]).await?;
    let version = env!("CARGO_PKG_VERSION");
    if text.contains(version) {
        Ok(())
    } else {
        Err(format!("{version} is not in: {text}"))
    }
}

/// A server dry run reports the change as JSON, and stores nothing.
pub(super) async fn dry_run(world: &World) -> Result<(), String> {
    world.cluster.apply(&manifest::opted_in(NAME, 1)).await?;
    let before = world.cluster.deployment(NAME).await?;
    let arguments = [
        "minrep",
        "reconcile",
        "once",
        "deployment/fresh",
        "--dry-run=server",
        "-o",
        "json",
    ];
    let text = world.cluster.kubectl(&arguments).await?;
    let document: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let item = &document["items"][0];
    let expected = document["apiVersion"] == "minrep.dev/v1alpha1"
        && document["kind"] == "ReconcileReport"
        && document["items"]
            .as_array()
            .is_some_and(|items| items.len() == 1)
        && item["name"] == NAME
        && item["result"] == "WouldRaise"
        && item["replicas"]["from"] == 1
        && item["replicas"]["to"] == 2
        && document["summary"]["wouldRaise"] == 1;
    if !expected {
        return Err(format!("not the expected document: {text}"));
    }
    let after = world.cluster.deployment(NAME).await?;
    if before["spec"] != after["spec"]
        || before["metadata"]["generation"] != after["metadata"]["generation"]
    {
        return Err("the dry run changed the Deployment".to_owned());
    }
    Ok(())
}

/// One pass raises it and says so; a second finds nothing to do.
pub(super) async fn raises(world: &World) -> Result<(), String> {
    let arguments = ["minrep", "reconcile", "once", "deployment/fresh"];
    for words in [" 1 raised", " 1 already satisfied"] {
        let output = world.cluster.output(&arguments, "").await?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() || !stderr.contains(words) {
            return Err(format!(
                "{}, and no \"{words}\" in: {stderr}",
                output.status
            ));
        }
        let replicas = world.cluster.deployment(NAME).await?["spec"]["replicas"].clone();
        if replicas != 2 {
            return Err(format!("{NAME} has {replicas} replicas"));
        }
    }
    Ok(())
}
