use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the loader may know of the process around it. Given as a value, so that a test
/// sets up a machine of its own instead of changing this one.
///
/// ```
/// use controller_core::client::{ConfigError, Environment, Loader};
///
/// let mut loader = Loader::new();
/// loader.environment = Environment::empty().with_variable("KUBECONFIG", "~/nope");
/// let Err(ConfigError::NothingConfigured { looked_at }) = loader.load() else {
///     unreachable!("there is no such file, and this machine has no pod");
/// };
/// assert_eq!(looked_at[0].to_string(), "~/nope (missing: no shell expanded its ~)");
/// ```
#[derive(Clone, Debug)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    home: Option<PathBuf>,
    service_account: PathBuf,
}

/// Where the kubelet mounts a pod's service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// All that is ever asked for; the rest of the environment is none of our business.
const VARIABLES: [&str; 11] = [
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "POD_NAMESPACE",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "REQUEST_METHOD",
];

// === impl Environment ===

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let variables = VARIABLES
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)))
            .collect();
        Self {
            variables,
            home: std::env::home_dir(),
            service_account: PathBuf::from(SERVICE_ACCOUNT),
        }
    }

    /// No variables, no home, no service account.
    pub fn empty() -> Self {
        Self {
            variables: BTreeMap::new(),
            home: None,
            service_account: PathBuf::new(),
        }
    }

    /// The same with a variable set.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// The same with a home directory.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The same with the directory that holds a service account's `token`, `ca.crt` and
    /// `namespace`.
    #[must_use]
    pub fn with_service_account(mut self, directory: impl Into<PathBuf>) -> Self {
        self.service_account = directory.into();
        self
    }

    /// A variable as text; unset, empty and unreadable ones are all nothing.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)?
            .to_str()
            .filter(|value| !value.is_empty())
    }

    /// A variable as it is.
    pub(super) fn raw(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(super) fn service_account(&self) -> &Path {
        &self.service_account
    }
}
