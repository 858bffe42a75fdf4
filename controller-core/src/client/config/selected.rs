use kube::Config;
use kube::config::{AuthInfo, Cluster, Context, ExecAuthCluster};

use super::files::Files;
use super::{ConfigError, Environment, Loaded, Source, material, proxy, server, user};

/// The one context, cluster and user of a kubeconfig that count.
///
/// Everything else in the files may be broken: certificates of other clusters that were
/// deleted long ago are the normal state of a kubeconfig.
pub(super) struct Selected<'a> {
    files: &'a Files,
    name: &'a str,
    context: &'a Context,
    cluster: &'a Cluster,
    user: AuthInfo,
}

// === impl Selected ===

impl<'a> Selected<'a> {
    /// The context `asked`, else the current one.
    pub(super) fn of(files: &'a Files, asked: Option<&'a str>) -> Result<Self, ConfigError> {
        let merged = &files.merged;
        let name = asked.or(merged.current_context.as_deref()).ok_or_else(|| {
            ConfigError::NoCurrentContext {
                files: files.read.clone(),
                known: files.contexts(),
            }
        })?;
        let context = merged
            .contexts
            .iter()
            .find(|entry| entry.name == name)
            .and_then(|entry| entry.context.as_ref())
            .ok_or_else(|| ConfigError::UnknownContext {
                context: name.to_owned(),
                files: files.read.clone(),
                known: files.contexts(),
            })?;
        let cluster = merged
            .clusters
            .iter()
            .find(|entry| entry.name == context.cluster)
            .and_then(|entry| entry.cluster.as_ref())
            .ok_or_else(|| ConfigError::MissingCluster {
                context: name.to_owned(),
                cluster: context.cluster.clone(),
                files: files.read.clone(),
            })?;
        let wanted = context.user.as_deref().unwrap_or_default();
        let user = merged
            .users
            .iter()
            .find(|entry| entry.name == wanted)
            // A user without settings is one: an API server may let anyone in.
            .map(|entry| entry.auth_info.clone().unwrap_or_default())
            .ok_or_else(|| ConfigError::MissingUser {
                context: name.to_owned(),
                user: wanted.to_owned(),
                files: files.read.clone(),
            })?;
        Ok(Self {
            files,
            name,
            context,
            cluster,
            user,
        })
    }

    /// Checks what was selected and makes a configuration of it. The namespace is left as
    /// the context gives it, empty for none; the loader decides.
    pub(super) fn load(self, environment: &Environment) -> Result<Loaded, ConfigError> {
        let cluster_name = &self.context.cluster;
        let user_name = self.context.user.as_deref().unwrap_or_default();
        let mut user = user::checked(user_name, self.user)?;
        let roots = roots(cluster_name, self.cluster)?;
        let insecure = self.cluster.insecure_skip_tls_verify.unwrap_or(false);

        let secure = roots.is_some() || insecure || user.client_certificate_data.is_some();
        let address = self.cluster.server.as_deref().unwrap_or_default();
        let uri = server::parse(address, secure).map_err(|problem| ConfigError::BadServer {
            cluster: cluster_name.clone(),
            server: redacted(address),
            problem,
        })?;
        if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
            let cluster = ExecAuthCluster::try_from(self.cluster);
            exec.cluster = Some(cluster.map_err(|error| ConfigError::BadCluster {
                cluster: cluster_name.clone(),
                problem: error.to_string(),
            })?);
        }
        if uri.scheme_str() == Some("http") {
            user = user::over_plain_http(user);
        }

        let mut config = Config::new(uri.clone());
        config.default_retry = false;
        config.default_namespace = self.context.namespace.clone().unwrap_or_default();
        config.root_cert = roots;
        config.accept_invalid_certs = insecure;
        config.tls_server_name = self
            .cluster
            .tls_server_name
            .clone()
            .filter(|name| !name.is_empty());
        config.disable_compression = self.cluster.disable_compression.unwrap_or(false);
        config.proxy_url = proxy::resolve(
            self.cluster.proxy_url.as_deref(),
            cluster_name,
            &uri,
            environment,
        )?;
        config.auth_info = user;
        Ok(Loaded {
            config,
            context: Some(self.name.to_owned()),
            cluster: Some(cluster_name.clone()),
            user: Some(user_name.to_owned()),
            server: server::shown(&uri),
            namespace: String::new(),
            namespace_explicit: false,
            source: Source::Files(self.files.read.clone()),
        })
    }
}

/// The certificates that the server's must lead to; `None` leaves it to the system.
fn roots(name: &str, cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, ConfigError> {
    const FIELD: &str = "certificate-authority";
    let data = cluster.certificate_authority_data.as_deref();
    let file = cluster.certificate_authority.as_deref();
    let owner = format!("cluster {name:?}");
    let set = |text: Option<&str>| text.is_some_and(|text| !text.is_empty());
    if set(data) && set(file) {
        let problem = "certificate-authority-data is set too";
        return Err(ConfigError::tls(&owner, FIELD, problem));
    }
    let Some(pem) =
        material::pem(data, file).map_err(|problem| ConfigError::tls(&owner, FIELD, problem))?
    else {
        return Ok(None);
    };
    if cluster.insecure_skip_tls_verify.unwrap_or(false) {
        return Err(ConfigError::BadCluster {
            cluster: name.to_owned(),
            problem: "it has both a certificate-authority and insecure-skip-tls-verify".into(),
        });
    }
    material::certificates(&pem).map(Some).map_err(|problem| {
        match file.filter(|file| !file.is_empty()) {
            Some(file) => ConfigError::tls(&owner, FIELD, format!("{file}: {problem}")),
            None => ConfigError::tls(&owner, FIELD, problem),
        }
    })
}

/// An address without what stands before an `@`: it may be a password.
fn redacted(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
            format!("{scheme}://...@{host}")
        }
        None => address.to_owned(),
    }
}
