use std::error::Error;
use std::path::PathBuf;
use std::pin::pin;

use clap::Args;
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::Script;
use tokio::time::Instant;

use super::fill::fill;
use crate::fault_script;
use crate::process::interrupted;

/// Flags of `cargo xtask sim`.
#[derive(Debug, Args)]
pub(crate) struct Sim {
    /// Fill it with N Deployments that opted in; nobody makes Pods then
    #[arg(long, value_name = "N", default_value_t = 0)]
    objects: u32,
    /// Listen on this port of 127.0.0.1 instead of a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Misbehave by this fault script (see tests/faults/README.md)
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
}

/// Serves until Ctrl-C, SIGTERM or the end of the terminal.
///
/// Only `export KUBECONFIG=…` goes to stdout, once the server can be asked: whoever starts
/// this in the background reads that line.
pub(crate) async fn run(sim: Sim) -> Result<(), Box<dyn Error>> {
    let script = match &sim.faults {
        Some(path) => fault_script::load(path)?,
        None => Script::default(),
    };
    let mut stop = pin!(interrupted());
    let started = Instant::now();
    let server = SimApiServer::builder()
        .port(sim.port)
        .recorded_requests(0)
        .faults(script)
        .workload_controllers(sim.objects == 0)
        .start()
        .await?;
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    eprintln!("listening on {} after {milliseconds:.0} ms", server.url());

    let folder = tempfile::Builder::new()
        .prefix("sim-apiserver-")
        .tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    server.write_kubeconfig(&kubeconfig)?;
    let stopped = tokio::select! {
        // First: the signals are caught from the first look on.
        biased;
        stopped = &mut stop => Some(stopped),
        () = prepare(&server, sim.objects) => None,
    };
    let stopped = match stopped {
        Some(stopped) => stopped,
        None => {
            println!("export KUBECONFIG={}", kubeconfig.display());
            eprintln!("Ctrl-C stops it and leaves nothing behind.");
            stop.await
        }
    };
    server.shutdown().await;
    folder.close()?;
    Ok(stopped?)
}

async fn prepare(server: &SimApiServer, objects: u32) {
    if objects == 0 {
        return;
    }
    let started = Instant::now();
    fill(server, objects).await;
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("filled with {objects} Deployments in {seconds:.1} s; no Pods are made for them");
}
