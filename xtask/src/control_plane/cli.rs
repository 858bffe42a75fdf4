//! `cargo xtask control-plane build|image|up|down`.

use std::io::Read;
use std::path::PathBuf;
use std::{fs, io};

use clap::{Args, Subcommand};
use sim_apiserver::faults::Faults;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use super::build::{Binary, BuildError, build};
use super::faulty_proxy::{FaultyProxy, FaultyProxyError};
use super::image::{self, IMAGE, ImageError};
use super::instance::{ControlPlane, InstanceError, Options, down};
use crate::docker::ImageName;
use crate::fault_script::{self, FaultScriptError};
use crate::task::root;

/// Build, start or stop a real Kubernetes control plane on this machine.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build the binary: minutes the first time, seconds after that
    Build,
    /// Put the binary into a container image that can stand in the place of k3s
    Image(Image),
    /// Run it until Ctrl-C or `down`; prints the kubeconfig's path
    Up(Up),
    /// Stop what `up` started in another terminal
    Down(Down),
}

/// Flags of `image`.
#[derive(Debug, Args)]
pub(crate) struct Image {
    /// The image's name, with tag `latest` unless given
    #[arg(long, value_name = "NAME[:TAG]", default_value = IMAGE)]
    tag: ImageName,
}

/// Flags of `up`.
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Only etcd and kube-apiserver: no controllers, no scheduler, no node
    #[arg(long)]
    api_only: bool,
    /// Directory of the instance, removed at the end
    #[arg(long, value_name = "DIR", default_value_os_t = default_dir())]
    dir: PathBuf,
    /// Keep the components' logs in this directory
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Write the API server's audit log to this file
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// Misbehave by this fault script (see tests/faults/README.md): the kubeconfig then
    /// leads through a proxy on loopback
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
}

/// Flags of `down`.
#[derive(Debug, Args)]
pub(crate) struct Down {
    /// Directory of the instance
    #[arg(long, value_name = "DIR", default_value_os_t = default_dir())]
    dir: PathBuf,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The binary could not be built.
    #[error("cannot build the control plane")]
    Build(#[from] BuildError),
    /// It could not be put into an image.
    #[error("cannot make an image of the control plane")]
    Image(#[from] ImageError),
    /// The instance could not be started or stopped.
    #[error("cannot run the control plane")]
    Instance(#[from] InstanceError),
    /// What is to go wrong cannot be read.
    #[error(transparent)]
    FaultScript(#[from] FaultScriptError),
    /// There is no way through the faults.
    #[error("cannot put the faults before the control plane")]
    Proxy(#[from] FaultyProxyError),
    /// The operating system refused something small.
    #[error("cannot read the size of the binary or wait for a signal")]
    Io(#[from] io::Error),
}

/// Runs one of the commands. `up` returns when the instance has ended.
///
/// # Errors
/// [`CommandError`]; `up` fails too when a component dies.
pub(crate) async fn run(command: Command) -> Result<(), CommandError> {
    match command {
        Command::Build => report_build(),
        Command::Image(flags) => image(&flags.tag).await,
        Command::Up(flags) => up(flags).await,
        Command::Down(flags) => {
            let binary = Binary::expected();
            // Without a binary nothing can be running.
            if binary.path().exists() {
                down(&binary, &flags.dir)?;
            }
            Ok(())
        }
    }
}

fn default_dir() -> PathBuf {
    root().join("target/control-plane/up")
}

fn report_build() -> Result<(), CommandError> {
    let start = Instant::now();
    let binary = build()?;
    let megabytes = fs::metadata(binary.path())?.len() / 1_000_000;
    println!(
        "{} ({megabytes} MB) in {:.0} s",
        binary.path().display(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

async fn image(image: &ImageName) -> Result<(), CommandError> {
    // Before the minutes that a first build of the binary takes.
    image::check().await?;
    Ok(image::report_image(&build()?, image).await?)
}

async fn up(flags: Up) -> Result<(), CommandError> {
    // First: what is wrong with it is known before anything is built.
    let script = flags
        .faults
        .as_deref()
        .map(fault_script::load_for_proxy)
        .transpose()?;
    let binary = build()?;
    let options = Options {
        api_only: flags.api_only,
        dir: Some(flags.dir),
        logs: flags.logs,
        audit_log: flags.audit_log,
    };
    let mut instance = ControlPlane::start(&binary, &options)?;
    let proxy = match script {
        Some(script) => Some(FaultyProxy::start(instance.kubeconfig(), Faults::new(script)).await?),
        None => None,
    };
    let direct = instance.kubeconfig();
    let kubeconfig = proxy.as_ref().map_or(direct, FaultyProxy::kubeconfig);
    println!("{}", kubeconfig.display());
    eprintln!("use it:  export KUBECONFIG={}", kubeconfig.display());
    if proxy.is_some() {
        eprintln!("without faults: export KUBECONFIG={}", direct.display());
    }
    eprintln!("stop it: Ctrl-C here, or `cargo xtask control-plane down`");

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let stdout = instance.take_stdout();
    // Reads to the end of the instance, whoever brings it about.
    let mut ended = tokio::task::spawn_blocking(move || {
        stdout.map(|mut stdout| stdout.read_to_end(&mut Vec::new()))
    });
    let ended_by_itself = tokio::select! {
        _ = &mut ended => true,
        _ = interrupt.recv() => false,
        _ = terminate.recv() => false,
        _ = hangup.recv() => false,
    };
    if let Some(proxy) = proxy {
        proxy.stop().await;
    }
    instance.stop()?;
    if !ended_by_itself {
        // It is over: this only joins the reader.
        let _ = ended.await;
    }
    Ok(())
}
