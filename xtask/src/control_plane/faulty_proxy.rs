//! The way to a control plane on which things go wrong.

use std::io;
use std::net::IpAddr;
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
        let named = names_a_proxy(&read);
        let mut config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
            .await
            .map_err(unusable)?;
        // What the server says is the client's affair.
        config.default_retry = false;
        if !named {
            go_directly(&mut config);
        }
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

fn names_a_proxy(kubeconfig: &Kubeconfig) -> bool {
    let mut clusters = kubeconfig.clusters.iter();
    clusters.any(|named| {
        let cluster = named.cluster.as_ref();
        cluster.is_some_and(|cluster| cluster.proxy_url.is_some())
    })
}

/// kube takes the environment's `HTTPS_PROXY` for a server on this machine, too, which a proxy
/// elsewhere cannot reach.
fn go_directly(config: &mut Config) {
    let host = config.cluster_url.host().unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    if host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()) {
        config.proxy_url = None;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environments_proxy_is_not_asked_for_this_machine() {
        for (server, direct) in [
            ("https://127.0.0.1:6443", true),
            ("https://localhost:6443", true),
            ("https://[::1]:6443", true),
            ("https://192.0.2.1:6443", false),
            ("https://localhost.example", false),
        ] {
            let mut config = Config::new(server.parse().unwrap());
            config.proxy_url = Some("http://proxy.example:3128".parse().unwrap());
            go_directly(&mut config);
            assert_eq!(config.proxy_url.is_none(), direct, "{server}");
        }
    }

    #[test]
    fn a_proxy_that_the_kubeconfig_names_is_kept() {
        let with = |cluster: &str| {
            let text = format!("clusters: [{{name: a, cluster: {{{cluster}}}}}]");
            names_a_proxy(&Kubeconfig::from_yaml(&text).unwrap())
        };
        assert!(with("server: 'https://a', proxy-url: 'http://p:1'"));
        assert!(!with("server: 'https://a'"));
    }
}
