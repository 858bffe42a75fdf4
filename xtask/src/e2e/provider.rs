use std::error::Error;
use std::path::{Path, PathBuf};

use sim_apiserver::SimApiServer;
use sim_apiserver::faults::Faults;
use tempfile::TempDir;

use super::flags::Provider;
use crate::control_plane::{self, Binary, BuildError, ControlPlane, FaultyProxy, Options};

/// A Kubernetes API server for the scenarios, and a way to it on which things go wrong.
pub(super) enum Provided {
    /// Its own faults are the way.
    Embedded {
        server: SimApiServer,
        folder: TempDir,
    },
    /// A proxy is the way.
    ControlPlane {
        instance: ControlPlane,
        proxy: FaultyProxy,
    },
}

/// What has to be there before it can start.
pub(super) enum Built {
    Embedded,
    ControlPlane(Binary),
}

/// The name of the kubeconfig in its folder.
const KUBECONFIG: &str = "kubeconfig";

// === impl Provided ===

impl Provided {
    /// Starts it. Below `logs` it leaves its own.
    pub(super) async fn start(built: &Built, logs: &Path) -> Result<Self, Box<dyn Error>> {
        match built {
            Built::Embedded => {
                let server = SimApiServer::builder().workload_controllers(true);
                let server = server.recorded_requests(0).start().await?;
                let folder = tempfile::Builder::new().prefix("minrep-sim-").tempdir()?;
                server.write_kubeconfig(&folder.path().join(KUBECONFIG))?;
                Ok(Self::Embedded { server, folder })
            }
            Built::ControlPlane(binary) => {
                let options = Options {
                    logs: Some(logs.join("control-plane")),
                    ..Options::default()
                };
                let instance = ControlPlane::start(binary, &options)?;
                let proxy = FaultyProxy::start(instance.kubeconfig(), Faults::default()).await?;
                Ok(Self::ControlPlane { instance, proxy })
            }
        }
    }

    /// For kubectl: nothing but the server.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        match self {
            Self::Embedded { folder, .. } => folder.path().join(KUBECONFIG),
            Self::ControlPlane { instance, .. } => instance.kubeconfig().to_owned(),
        }
    }

    /// For who is to meet the faults.
    pub(super) fn faulty_kubeconfig(&self) -> PathBuf {
        match self {
            Self::Embedded { .. } => self.kubeconfig(),
            Self::ControlPlane { proxy, .. } => proxy.kubeconfig().to_owned(),
        }
    }

    /// What goes wrong on that way; nothing at first.
    pub(super) fn faults(&self) -> Faults {
        match self {
            Self::Embedded { server, .. } => server.faults().clone(),
            Self::ControlPlane { proxy, .. } => proxy.faults().clone(),
        }
    }

    /// Ends it and leaves nothing but logs.
    pub(super) async fn stop(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Embedded { server, folder } => {
                server.shutdown().await;
                folder.close()?;
            }
            Self::ControlPlane { instance, proxy } => {
                proxy.stop().await;
                instance.stop()?;
            }
        }
        Ok(())
    }
}

// === impl Built ===

impl Built {
    /// A first control plane takes minutes.
    pub(super) fn of(provider: Provider) -> Result<Self, BuildError> {
        match provider {
            Provider::Embedded => Ok(Self::Embedded),
            Provider::ControlPlane => control_plane::build().map(Self::ControlPlane),
        }
    }
}
