//! The way to a control plane on which things go wrong.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::Request;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use serde_json::{Value, json};
use sim_apiserver::faults::{Faults, Proxy, ProxyError};
use tower::service_fn;

/// A loopback proxy before a control plane. Whoever reaches it is an administrator there:
/// it speaks plain HTTP and signs in by itself, as `kubectl proxy` does.
#[derive(Debug)]
pub(crate) struct FaultyProxy {
    proxy: Proxy,
    kubeconfig: PathBuf,
}

/// Why there is no proxy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FaultyProxyError {
    /// The control plane's own kubeconfig cannot be used.
    #[error("cannot use {path}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: KubeconfigError,
    },
    /// It makes no client.
    #[error("cannot make a client of the control plane")]
    Client(#[source] kube::Error),
    /// The script asks for the impossible, or there is no port.
    #[error("cannot start the proxy")]
    Proxy(#[source] ProxyError),
    /// Its own kubeconfig could not be written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

// === impl FaultyProxy ===

impl FaultyProxy {
    /// Starts one before the control plane that `kubeconfig` names.
    ///
    /// # Errors
    /// [`FaultyProxyError`]; nothing is left running then.
    pub(crate) async fn start(kubeconfig: &Path, faults: Faults) -> Result<Self, FaultyProxyError> {
        let unusable = |source| FaultyProxyError::Kubeconfig {
            path: kubeconfig.to_owned(),
            source,
        };
        let read = Kubeconfig::read_from(kubeconfig).map_err(unusable)?;
        let mut config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
            .await
            .map_err(unusable)?;
        // What the server says is the client's affair.
        config.default_retry = false;
        let namespace = config.default_namespace.clone();
        let client = Client::try_from(config).map_err(FaultyProxyError::Client)?;
        // `Client` is no service itself.
        let upstream = service_fn(move |request: Request<Bytes>| {
            let client = client.clone();
            async move { client.send(request.map(Body::from)).await }
        });
        let proxy = Proxy::start(upstream, faults)
            .await
            .map_err(FaultyProxyError::Proxy)?;
        let path = kubeconfig.with_file_name("faulty-kubeconfig");
        let written = std::fs::write(&path, text(&proxy.url(), &namespace).to_string());
        let started = Self {
            proxy,
            kubeconfig: path,
        };
        match written {
            Ok(()) => Ok(started),
            Err(source) => {
                started.proxy.shutdown().await;
                let path = started.kubeconfig;
                Err(FaultyProxyError::Write { path, source })
            }
        }
    }

    /// A kubeconfig that leads through it. It lies beside the control plane's and goes with
    /// that.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// What goes wrong.
    pub(crate) fn faults(&self) -> &Faults {
        self.proxy.faults()
    }

    /// Cuts what goes through it.
    pub(crate) async fn stop(self) {
        self.proxy.shutdown().await;
    }
}

/// A kubeconfig for who speaks to the proxy. JSON is YAML.
fn text(server: &str, namespace: &str) -> Value {
    let name = "faulty-control-plane";
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "users": [{"name": name, "user": {}}],
        "contexts": [{
            "name": name,
            "context": {"cluster": name, "user": name, "namespace": namespace},
        }],
    })
}
