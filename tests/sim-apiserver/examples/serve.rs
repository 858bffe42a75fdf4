//! Serves a simulated cluster until Ctrl-C, for a look with kubectl.
//!
//! ```console
//! $ cargo run -p sim-apiserver --example serve -- /tmp/sim.kubeconfig
//! $ kubectl --kubeconfig /tmp/sim.kubeconfig get namespaces
//! ```
//!
//! With a second argument `--api-only` nobody makes Pods.

use std::{error::Error, path::Path};

use sim_apiserver::SimApiServer;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let kubeconfig = arguments
        .next()
        .ok_or("say where to write the kubeconfig")?;
    let controllers = arguments.next().as_deref() != Some("--api-only");
    let server = SimApiServer::builder()
        .workload_controllers(controllers)
        .start()
        .await?;
    server.write_kubeconfig(Path::new(&kubeconfig))?;
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
