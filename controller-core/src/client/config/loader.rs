use std::path::PathBuf;

use super::in_cluster::InCluster;
use super::selected::Selected;
use super::{ConfigError, Environment, Loaded, Place, files, namespace};

/// Finds the API server, the user and the namespace, where kubectl looks and in its order:
///
/// 1. [`Loader::kubeconfig`]: that file and nothing else; it must exist.
/// 2. `KUBECONFIG`: a list. Empty entries and missing files are skipped, a file counts
///    once. Of two entries with one name, and of two current contexts, the first wins.
/// 3. `~/.kube/config`, when `KUBECONFIG` is empty or unset.
/// 4. The service account of the pod, only when none of these holds any configuration.
///
/// Only what the selected context names is checked: a broken user elsewhere in the file
/// harms nobody. Paths are relative to the file that they stand in. Files may have
/// Windows line ends, a byte-order mark, or be UTF-16 with one.
///
/// A proxy is the cluster's `proxy-url`, else the environment's as Go reads it:
/// `HTTPS_PROXY` (or `https_proxy`), never for the loopback nor for what `NO_PROXY`
/// names.
///
/// kube's own loader is not used: it falls back to the pod on any error, fails on the
/// first missing file, and applies `NO_PROXY` to the proxy instead of the server.
///
/// Two differences from kubectl, both because acting on the wrong cluster is worse than
/// an error: a configuration with contexts of which none is selected is an error even in
/// a pod, and where nothing is configured `localhost:8080` is not tried. Over plain HTTP
/// no credentials are sent, as in client-go.
///
/// ```no_run
/// use controller_core::client::{ClientOptions, Loader, build, user_agent};
///
/// # async fn example() -> Result<(), controller_core::client::ConfigError> {
/// let loaded = Loader::new().context("staging").load()?;
/// let options = ClientOptions::new(user_agent("my-controller", "1.0"));
/// let client = build(&loaded, &options)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Loader {
    /// Only this file, what `--kubeconfig` gives.
    pub kubeconfig: Option<PathBuf>,
    /// Instead of the current context. An empty name is none.
    pub context: Option<String>,
    /// Instead of the context's namespace. A `ns/`, `namespace/` or `namespaces/` before
    /// it is dropped, so that `ns/shop` is `shop`. An empty name is none.
    pub namespace: Option<String>,
    /// The machine to look at.
    pub environment: Environment,
}

// === impl Loader ===

impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

impl Loader {
    /// A loader that asks for nothing in particular, on this machine.
    pub fn new() -> Self {
        Self {
            kubeconfig: None,
            context: None,
            namespace: None,
            environment: Environment::of_process(),
        }
    }

    /// The same with a context.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.context = Some(context.into());
        self
    }

    /// Reads, merges, selects and checks. Touches files, but neither the network nor a
    /// credential helper.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        let asked = self.context.as_deref().filter(|name| !name.is_empty());
        let in_cluster = InCluster::of(&self.environment);
        let mut files = files::load(self.kubeconfig.as_deref(), &self.environment)?;

        // A context that was asked for cannot be the pod, a file neither.
        let may_be_pod = asked.is_none() && self.kubeconfig.is_none();
        let pod = in_cluster
            .as_ref()
            .filter(|_| files.merged.is_empty() && may_be_pod);
        let mut loaded = match pod {
            Some(pod) => pod.load(&self.environment)?,
            None if files.merged.is_empty() => {
                if may_be_pod {
                    files.looked_at.push(Place {
                        name: "in-cluster service account".into(),
                        found: "not in a pod".into(),
                    });
                }
                return Err(ConfigError::NothingConfigured {
                    looked_at: files.looked_at,
                });
            }
            None => Selected::of(&files, asked)?.load(&self.environment)?,
        };

        let context_namespace =
            Some(loaded.config.default_namespace.clone()).filter(|name| !name.is_empty());
        let chosen = namespace::choose(
            self.namespace.as_deref(),
            context_namespace,
            in_cluster.as_ref(),
            &self.environment,
        )?;
        loaded.config.default_namespace.clone_from(&chosen.name);
        loaded.namespace = chosen.name;
        loaded.namespace_explicit = chosen.explicit;
        Ok(loaded)
    }
}
