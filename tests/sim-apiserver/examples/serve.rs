//! Serves a simulated cluster until Ctrl-C, for a look with kubectl.
//!
//! ```console
//! $ cargo run -p sim-apiserver --example serve -- /tmp/sim.kubeconfig
//! $ kubectl --kubeconfig /tmp/sim.kubeconfig get namespaces
//! ```

use std::{error::Error, path::Path};

use sim_apiserver::SimApiServer;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let kubeconfig = std::env::args()
        .nth(1)
        .ok_or("say where to write the kubeconfig")?;
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .start()
        .await?;
    server.write_kubeconfig(Path::new(&kubeconfig))?;
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
