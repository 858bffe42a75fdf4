use std::fmt;
use std::path::PathBuf;

/// A configuration that names a server, credentials and a namespace.
///
/// [`build`](crate::client::build) makes a client of it. Its `Debug` leaves out
/// [`Loaded::config`], which holds credentials.
///
/// The fields beside `config` are for people: a program that is about to change something
/// says where, before it does. What the client uses is in `config` alone, so that another
/// `server` here changes nothing.
///
/// The dangerous mistake is to take `namespace` for what the user asked for. Only
/// `namespace_explicit` tells a `-n default` from a context that names no namespace; who
/// excludes namespaces by default, or deletes, wants to know.
#[derive(Clone)]
pub struct Loaded {
    /// Ready for a client. `default_retry` is off: the client's own layers retry.
    pub config: kube::Config,
    /// The selected context; `None` in a pod.
    pub context: Option<String>,
    /// The context's cluster.
    pub cluster: Option<String>,
    /// The context's user.
    pub user: Option<String>,
    /// The API server's address, such as `https://10.0.0.5:6443`.
    pub server: String,
    /// The namespace to work in.
    pub namespace: String,
    /// Whether the namespace was asked for, and not read from somewhere.
    pub namespace_explicit: bool,
    /// Where the configuration comes from.
    pub source: Source,
}

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Kubeconfig files, in the order in which they were merged.
    Files(Vec<PathBuf>),
    /// The pod's service account.
    InCluster,
}

// === impl Loaded ===

impl Loaded {
    /// The user's name as errors give it.
    pub(in crate::client) fn user_name(&self) -> &str {
        self.user.as_deref().unwrap_or("service account")
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("context", &self.context)
            .field("cluster", &self.cluster)
            .field("user", &self.user)
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .field("namespace_explicit", &self.namespace_explicit)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
