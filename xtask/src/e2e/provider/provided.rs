use std::error::Error;
use std::path::{Path, PathBuf};

use sim_apiserver::SimApiServer;
use sim_apiserver::faults::Faults;

use crate::control_plane::{ControlPlane, FaultyProxy};

/// A Kubernetes API server that runs, and a way to it on which things go wrong.
pub(in crate::e2e) struct Provided {
    server: Server,
    kubeconfig: PathBuf,
    /// `None` where the server has faults of its own.
    proxy: Option<FaultyProxy>,
}

/// What has to be ended; anything else is removed by its name.
pub(super) enum Server {
    Simulated(SimApiServer),
    Process(ControlPlane),
    Elsewhere,
}

// === impl Provided ===

impl Provided {
    /// Puts the proxy before it where one is needed. `kubeconfig` must lie in a folder that
    /// is removed at the end: the proxy writes its own beside it.
    pub(super) async fn new(server: Server, kubeconfig: PathBuf) -> Result<Self, Box<dyn Error>> {
        let proxy = match &server {
            Server::Simulated(_) => None,
            _ => Some(FaultyProxy::start(&kubeconfig, Faults::default()).await?),
        };
        Ok(Self {
            server,
            kubeconfig,
            proxy,
        })
    }

    /// For kubectl: nothing but the server.
    pub(in crate::e2e) fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig.clone()
    }

    /// For who is to meet the faults.
    pub(in crate::e2e) fn faulty_kubeconfig(&self) -> PathBuf {
        let proxy = self.proxy.as_ref();
        proxy
            .map_or(self.kubeconfig.as_path(), FaultyProxy::kubeconfig)
            .to_owned()
    }

    /// What goes wrong on that way; nothing at first.
    pub(in crate::e2e) fn faults(&self) -> Faults {
        match (&self.server, &self.proxy) {
            (_, Some(proxy)) => proxy.faults().clone(),
            (Server::Simulated(server), None) => server.faults().clone(),
            (_, None) => Faults::default(),
        }
    }

    /// Ends what runs on this machine because of this process.
    pub(in crate::e2e) async fn stop(self) -> Result<(), Box<dyn Error>> {
        if let Some(proxy) = self.proxy {
            proxy.stop().await;
        }
        match self.server {
            Server::Simulated(server) => server.shutdown().await,
            Server::Process(instance) => instance.stop()?,
            Server::Elsewhere => {}
        }
        Ok(())
    }
}

/// The name of the kubeconfig in its folder.
pub(super) fn kubeconfig_in(folder: &Path) -> PathBuf {
    folder.join("kubeconfig")
}
