use std::error::Error;
use std::path::Path;

use futures::{StreamExt, TryStreamExt, stream};
use http::{Request, header};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::e2e::manifest;

/// How many requests are under way at once.
const AT_ONCE: usize = 32;

/// Creates `count` opted-in Deployments with one replica in namespace `default`. kubectl
/// takes a quarter of an hour for that.
pub(super) async fn fill(kubeconfig: &Path, count: u32) -> Result<(), Box<dyn Error>> {
    let read = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(read, &options).await?;
    // It is on this machine; kube would send even that through HTTPS_PROXY.
    config.proxy_url = None;
    let client = Client::try_from(config)?;
    stream::iter(1..=count)
        .map(|number| create(&client, format!("scale-{number:05}")))
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    Ok(())
}

async fn create(client: &Client, name: String) -> Result<(), Box<dyn Error>> {
    let object = manifest::opted_in(&name, 1).to_string();
    let request = Request::post("/apis/apps/v1/namespaces/default/deployments")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(object.into_bytes()))?;
    let status = client.send(request).await?.status();
    if status.is_success() {
        Ok(())
    } else {
        Err(format!("{name} was not created: {status}").into())
    }
}
