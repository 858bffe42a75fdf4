use std::error::Error;
use std::path::Path;

use clap::Parser;

use crate::{control_plane, test, tidy};

/// The repository's tasks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) enum Task {
    /// Run every test that needs neither Go, Docker nor kubectl
    Test,
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
            Self::Test => Ok(test::run()?),
            Self::Tidy => Ok(tidy::run(root())?),
            Self::ControlPlane(command) => {
                control_plane::run(command).await?;
                Ok(true)
            }
        }
    }
}
