use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no client, one variant for each thing that a person can do about it.
///
/// The fields are what a hint needs: the places that were looked at, the contexts that
/// there are, the helper's own words. The texts are fragments in lower case; suggestions
/// and flags are the program's business, which knows which it has.
///
/// Texts name the file, context, cluster or user, never a credential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No file, no variable, no pod.
    #[error("no Kubernetes configuration found")]
    NothingConfigured {
        /// Every place, in order, with what was there.
        looked_at: Vec<Place>,
    },

    /// `--context`, or the current context, names none.
    #[error("context {context:?} does not exist in {}", listed(.files))]
    UnknownContext {
        /// The name that was asked for.
        context: String,
        /// The files that were read.
        files: Vec<PathBuf>,
        /// The contexts that there are, sorted.
        known: Vec<String>,
    },

    /// There are contexts, but none is current.
    #[error("no context is selected in {}", listed(.files))]
    NoCurrentContext {
        /// The files that were read.
        files: Vec<PathBuf>,
        /// The contexts that there are, sorted.
        known: Vec<String>,
    },

    /// `--kubeconfig` names a file that does not exist.
    #[error("the kubeconfig file {} does not exist", .file.display())]
    MissingFile {
        /// As it was written.
        file: PathBuf,
        /// Whether its name begins with a `~` that no shell expanded.
        unexpanded_tilde: bool,
    },

    /// A kubeconfig that is there and cannot be read.
    #[error("cannot read the kubeconfig file {}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },

    /// A kubeconfig that is no kubeconfig.
    #[error("cannot parse the kubeconfig file {}", .file.display())]
    Unparseable {
        /// The file.
        file: PathBuf,
        /// Where and why; it quotes nothing of the file.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// The context names a cluster that does not exist, or none.
    #[error("cluster {cluster:?} of context {context:?} does not exist in {}", listed(.files))]
    MissingCluster {
        /// The context.
        context: String,
        /// The cluster's name; empty when the context names none.
        cluster: String,
        /// The files that were read.
        files: Vec<PathBuf>,
    },

    /// The context names a user that does not exist, or none.
    #[error("user {user:?} of context {context:?} does not exist in {}", listed(.files))]
    MissingUser {
        /// The context.
        context: String,
        /// The user's name; empty when the context names none.
        user: String,
        /// The files that were read.
        files: Vec<PathBuf>,
    },

    /// The cluster's address is none.
    #[error("the server {server:?} of cluster {cluster:?} is no address: {problem}")]
    BadServer {
        /// The cluster, or `in-cluster`.
        cluster: String,
        /// As it was written.
        server: String,
        /// What is wrong with it.
        problem: String,
    },

    /// The cluster's settings contradict each other.
    #[error("cluster {cluster:?} cannot be used: {problem}")]
    BadCluster {
        /// The cluster.
        cluster: String,
        /// What is wrong.
        problem: String,
    },

    /// The user's settings contradict each other.
    #[error("user {user:?} cannot be used: {problem}")]
    BadUser {
        /// The user.
        user: String,
        /// What is wrong.
        problem: String,
    },

    /// The namespace can be none.
    #[error("{namespace:?} is no namespace: {problem}")]
    BadNamespace {
        /// As it was written.
        namespace: String,
        /// What is wrong with it.
        problem: &'static str,
    },

    /// A certificate or key that cannot be used.
    #[error("{field} of {owner} cannot be used: {problem}")]
    TlsMaterial {
        /// `cluster "prod"` or `user "ana"`.
        owner: String,
        /// The kubeconfig's name of the field.
        field: &'static str,
        /// What is wrong with it; names the file where there is one.
        problem: String,
    },

    /// A proxy address that cannot be used.
    #[error("{origin} is no proxy address: {problem}")]
    Proxy {
        /// `proxy-url of cluster "prod"` or the variable's name.
        origin: String,
        /// What is wrong with it; never the address, which may hold a password.
        problem: String,
    },

    /// The user's credential helper is not installed.
    #[error("credential helper {command:?} not found in PATH")]
    CredentialHelperNotFound {
        /// The command as the kubeconfig names it.
        command: String,
        /// The user.
        user: String,
        /// What the kubeconfig's author says about installing it.
        install_hint: Option<String>,
    },

    /// The user's credential helper ran and failed.
    #[error("credential helper {command:?} for user {user:?} failed{}", code(.exit_code))]
    CredentialHelperFailed {
        /// The command as the kubeconfig names it.
        command: String,
        /// The user.
        user: String,
        /// Its exit code; `None` when a signal ended it.
        exit_code: Option<i32>,
        /// What it said, unless it spoke to the terminal directly.
        stderr: String,
    },

    /// The user's credentials cannot be used.
    #[error("the credentials of user {user:?} cannot be used: {problem}")]
    Credentials {
        /// The user, or `service account`.
        user: String,
        /// What is wrong; never the credentials.
        problem: String,
    },
}

/// A place where a configuration could have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file or variable, as it was written.
    pub name: String,
    /// What was there, such as `missing`.
    pub found: String,
}

// === impl ConfigError ===

impl ConfigError {
    pub(super) fn tls(owner: &str, field: &'static str, problem: impl fmt::Display) -> Self {
        Self::TlsMaterial {
            owner: owner.to_owned(),
            field,
            problem: problem.to_string(),
        }
    }
}

fn listed(files: &[PathBuf]) -> String {
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    files.join(", ")
}

fn code(exit_code: &Option<i32>) -> String {
    exit_code.map_or_else(String::new, |code| format!(" with exit code {code}"))
}

// === impl Place ===

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.found)
    }
}
