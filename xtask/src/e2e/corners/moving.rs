use serde_json::{Value, json};

use crate::e2e::manifest;
use crate::e2e::world::World;

/// Scaled to 1 while new Pods replace old ones: both end well.
pub(super) async fn rollout(world: &mut World) -> Result<(), String> {
    let mut rolling = manifest::opted_in("rolling", 2);
    rolling["spec"]["minReadySeconds"] = json!(2);
    world.cluster.apply(&rolling).await?;
    rollout_ended(world, "rolling").await?;
    world.start_controller("controller-rollout")?;
    world.logged(0, "rolling", "already satisfies").await?;
    let image = ["set", "image", "deployment/rolling", "nginx=nginx:1.28"];
    world.kubectl(&image).await?;
    world
        .kubectl(&["scale", "deployment/rolling", "--replicas=1"])
        .await?;
    world.logged(0, "rolling", "scaled from 1 to 2").await?;
    rollout_ended(world, "rolling").await?;
    world.cluster.wait_replicas("rolling", 2).await?;
    world.stop_controller().await?;
    world.delete(&["deployment/rolling"]).await
}

/// A pause holds back new templates, not replicas.
pub(super) async fn paused(world: &mut World) -> Result<(), String> {
    let mut paused = manifest::opted_in("paused", 1);
    paused["spec"]["paused"] = json!(true);
    world.cluster.apply(&paused).await?;
    world.start_controller("controller-paused")?;
    world.logged(0, "paused", "scaled from 1 to 2").await?;
    world.cluster.wait_replicas("paused", 2).await?;
    world.stop_controller().await?;
    world.delete(&["deployment/paused"]).await
}

/// Something holds it while it goes, and it is scaled down meanwhile.
pub(super) async fn deleted_in_the_foreground(world: &mut World) -> Result<(), String> {
    let mut held = manifest::opted_in("held", 2);
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    world.cluster.apply(&held).await?;
    world.start_controller("controller-held")?;
    world.logged(0, "held", "already satisfies").await?;
    let delete = [
        "delete",
        "deployment/held",
        "--cascade=foreground",
        "--wait=false",
    ];
    world.kubectl(&delete).await?;
    world.logged(0, "held", "being deleted").await?;
    world
        .kubectl(&["scale", "deployment/held", "--replicas=1"])
        .await?;
    world.sentinel("after-held").await?;
    let replicas = world.cluster.deployment("held").await?["spec"]["replicas"].clone();
    if replicas != 1 {
        return Err(format!("it has {replicas} replicas again"));
    }
    let release = r#"{"metadata":{"finalizers":null}}"#;
    let patch = ["patch", "deployment/held", "--type=merge", "-p", release];
    world.kubectl(&patch).await?;
    world.logged(0, "held", "no longer exists").await?;
    world.stop_controller().await
}

/// Another object under a known name is another object.
pub(super) async fn recreated(world: &mut World) -> Result<(), String> {
    let name = "phoenix";
    world.start_controller("controller-recreated")?;
    world.cluster.apply(&manifest::opted_in(name, 1)).await?;
    world.logged(0, name, "scaled from 1 to 2").await?;
    let first = uid(world, name).await?;
    let mark = world.mark()?;
    world.delete(&["deployment/phoenix"]).await?;
    world.cluster.apply(&manifest::opted_in(name, 1)).await?;
    world.logged(mark, name, "scaled from 1 to 2").await?;
    world.cluster.wait_replicas(name, 2).await?;
    if uid(world, name).await? == first {
        return Err("it is the same object still".to_owned());
    }
    world.stop_controller().await?;
    world.delete(&["deployment/phoenix"]).await
}

async fn uid(world: &World, name: &str) -> Result<Value, String> {
    Ok(world.cluster.deployment(name).await?["metadata"]["uid"].clone())
}

async fn rollout_ended(world: &World, name: &str) -> Result<(), String> {
    let object = format!("deployment/{name}");
    world
        .kubectl(&["rollout", "status", &object, "--timeout=50s"])
        .await
}
