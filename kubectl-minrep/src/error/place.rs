use super::access::shell_word;

/// Where a command acts: what hints and the first line of `run` name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The kubeconfig's context, `None` in a cluster.
    pub context: Option<String>,
    /// The context's cluster.
    pub cluster: Option<String>,
    /// The context's user.
    pub user: Option<String>,
    /// The server's address.
    pub server: String,
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
    /// The file that `--kubeconfig` named: commands in hints must act on the same one.
    pub kubeconfig: Option<String>,
    /// Whether the kubeconfig says whose certificates to trust.
    pub has_authority: bool,
    /// Whether autoscalers are changed, for which one more verb is needed.
    pub raises_min: bool,
    /// What the user typed: `run`, `reconcile once`.
    pub command: &'static str,
}

// === impl Place ===

impl Place {
    /// `context "prod" → cluster "prod-eu"`, as much of it as there is.
    pub(super) fn route(&self) -> String {
        match (&self.context, &self.cluster) {
            (Some(context), Some(cluster)) => {
                format!("context {context:?} → cluster {cluster:?}")
            }
            (Some(context), None) => format!("context {context:?}"),
            (None, _) => "the service account of this pod".to_owned(),
        }
    }

    /// `kubectl config set-cluster prod-eu`, for the file that is in use.
    pub(super) fn set_cluster(&self) -> String {
        let cluster = self.cluster.as_deref().unwrap_or("CLUSTER");
        format!(
            "kubectl config set-cluster {}{}",
            shell_word(cluster),
            self.file_flag()
        )
    }

    /// ` --kubeconfig FILE` if it was given.
    pub(super) fn file_flag(&self) -> String {
        self.kubeconfig.as_deref().map_or_else(String::new, |file| {
            format!(" --kubeconfig {}", shell_word(file))
        })
    }
}
