use std::time::Duration;

use tokio::time::timeout;

use crate::e2e::cluster::Cluster;
use crate::e2e::manifest;

/// What the scenarios run.
const IMAGES: [&str; 4] = ["nginx:1.27", "nginx:1.28", "nginx:1.29", "nginx:1.30"];

/// How long a node may take to pull all of them.
const BOUND: Duration = Duration::from_secs(600);

/// Has the cluster run each image once. Where a kubelet pulls images, the scenarios would
/// measure the network otherwise, and fail by its speed.
pub(super) async fn warm_up(cluster: &Cluster) -> Result<(), String> {
    let name = |at: usize| format!("warm-up-{at}");
    for (at, image) in IMAGES.iter().enumerate() {
        let mut deployment = manifest::deployment(&name(at), 1);
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = (*image).into();
        cluster.apply(&deployment).await?;
    }
    for (at, image) in IMAGES.iter().enumerate() {
        let object = format!("deployment/{}", name(at));
        let wait = ["rollout", "status", &object, "--timeout=50s"];
        let ready = async {
            // One call of kubectl is bounded more tightly than a pull.
            while !cluster.output(&wait, "").await?.status.success() {}
            Ok(())
        };
        let late = |_| {
            let seconds = BOUND.as_secs();
            Err(format!("no Pod of {image} was Ready after {seconds} s"))
        };
        timeout(BOUND, ready).await.unwrap_or_else(late)?;
    }
    for at in 0..IMAGES.len() {
        let object = format!("deployment/{}", name(at));
        cluster
            .kubectl(&["delete", &object, "--wait=false"])
            .await?;
    }
    Ok(())
}
