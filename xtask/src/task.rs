use std::error::Error;
use std::path::Path;

use clap::Parser;

use crate::{conformance, control_plane, demo, e2e, judge, race, sim, test, tidy};

/// The repository's tasks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) enum Task {
    /// See a labelled Deployment go from 1 replica to 2, without a cluster
    Demo(demo::Demo),
    /// Keep a simulated API server running for kubectl, until Ctrl-C
    Sim(sim::Sim),
    /// Run every test that needs neither Go, Docker nor kubectl
    Test,
    /// Run the plugin through kubectl on a Kubernetes API server
    E2e(e2e::E2e),
    /// Run controller-core's cache on a real API server that misbehaves
    Conformance,
    /// Hold the simulated API server to a real one
    #[command(subcommand)]
    Judge(judge::Command),
    /// Measure controller-core beside its peers
    #[command(subcommand)]
    Race(race::Command),
    /// Check the rules of the code base that no compiler checks
    Tidy,
    /// A real Kubernetes control plane on this machine
    #[command(subcommand)]
    ControlPlane(control_plane::Command),
}

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("invariant: xtask lies in the workspace's root")
}

// === impl Task ===

impl Task {
    /// Runs the task. `Ok(false)`: it came to its end, and what it checked is not well.
    pub(crate) async fn run(self) -> Result<bool, Box<dyn Error>> {
        match self {
            Self::Demo(demo) => {
                demo::run(demo).await?;
                Ok(true)
            }
            Self::Sim(flags) => {
                sim::run(flags).await?;
                Ok(true)
            }
            Self::Test => Ok(test::run()?),
            Self::E2e(flags) => e2e::run(flags).await,
            Self::Conformance => conformance::run().await,
            Self::Judge(command) => judge::run(command).await,
            Self::Race(command) => race::run(command).await,
            Self::Tidy => Ok(tidy::run(root())?),
            Self::ControlPlane(command) => {
                control_plane::run(command).await?;
                Ok(true)
            }
        }
    }
}
