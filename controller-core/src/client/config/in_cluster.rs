use std::net::IpAddr;
use std::path::PathBuf;

use kube::Config;
use tracing::warn;

use super::{ConfigError, Environment, Loaded, Source, material, proxy, server, text};

/// The service account of the pod that this process runs in.
///
/// The kubelet sets two variables and mounts three files: `token`, `ca.crt` and
/// `namespace`. A process with the variables and no token is a shell in a container
/// without a service account, not a client.
pub(super) struct InCluster {
    host: String,
    port: String,
    directory: PathBuf,
}

// === impl InCluster ===

impl InCluster {
    /// `None` outside a pod: both variables and the token must be there.
    pub(super) fn of(environment: &Environment) -> Option<Self> {
        let host = environment.text("KUBERNETES_SERVICE_HOST")?.to_owned();
        let port = environment.text("KUBERNETES_SERVICE_PORT")?.to_owned();
        let directory = environment.service_account().to_owned();
        directory.join("token").is_file().then_some(Self {
            host,
            port,
            directory,
        })
    }

    /// `POD_NAMESPACE`, else the namespace beside the token.
    pub(super) fn namespace(&self, environment: &Environment) -> Option<String> {
        if let Some(name) = environment.text("POD_NAMESPACE") {
            return Some(name.to_owned());
        }
        let name = text::read(&self.directory.join("namespace")).ok()?;
        let name = name.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// The API server as the pod sees it. Token and authority stay files: both rotate.
    pub(super) fn load(&self, environment: &Environment) -> Result<Loaded, ConfigError> {
        // IPv6 clusters set the bare address.
        let host = match self.host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            _ => self.host.clone(),
        };
        let address = format!("https://{host}:{}", self.port);
        let uri = server::parse(&address, true).map_err(|problem| ConfigError::BadServer {
            cluster: "in-cluster".into(),
            server: address.clone(),
            problem,
        })?;

        let mut config = Config::new(uri.clone());
        config.default_retry = false;
        config.default_namespace = String::new();
        config.auth_info.token_file =
            Some(self.directory.join("token").to_string_lossy().into_owned());
        let authority = self.directory.join("ca.crt");
        match material::certificates_in(&authority) {
            Ok(certificates) => {
                config.root_cert = Some(certificates);
                // Read again every minute: the kubelet rotates it.
                config.root_cert_file = Some(authority);
            }
            // As client-go: the system's trust store may do.
            Err(problem) => warn!("cannot use {}: {problem}", authority.display()),
        }
        config.proxy_url = proxy::resolve(None, "in-cluster", &uri, environment)?;
        Ok(Loaded {
            config,
            context: None,
            cluster: None,
            user: None,
            server: server::shown(&uri),
            namespace: String::new(),
            namespace_explicit: false,
            source: Source::InCluster,
        })
    }
}
