use std::collections::HashSet;
use std::path::{MAIN_SEPARATOR, Path};

use kube::config::{NamedAuthInfo, NamedCluster, NamedContext};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{DuplicateKeyPolicy, Options};

/// A kubeconfig, as far as a client needs it.
///
/// kube's type would do, but it keeps unknown fields, and for such a type the YAML reader
/// cannot let the last of two equal keys win.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Document {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub(super) clusters: Vec<NamedCluster>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub(super) contexts: Vec<NamedContext>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub(super) users: Vec<NamedAuthInfo>,
    pub(super) current_context: Option<String>,
}

type Problem = Box<dyn std::error::Error + Send + Sync>;

// === impl Document ===

impl Document {
    /// Reads one file's text, which may hold several documents. What they name is
    /// relative to `directory`.
    pub(super) fn read(text: &str, directory: &Path) -> Result<Vec<Self>, Problem> {
        let mut options = Options::default();
        // A snippet would print the lines around an error: tokens and keys.
        options.with_snippet = false;
        // As kubectl: merged files often have `kind` twice.
        options.duplicate_keys = DuplicateKeyPolicy::LastWins;
        let mut documents: Vec<Self> = serde_saphyr::from_multiple_with_options(text, options)?;
        for document in &mut documents {
            document.check_names()?;
            document.resolve_paths(directory);
        }
        Ok(documents)
    }

    /// Whether there is nothing in it that could name a cluster.
    pub(super) fn is_empty(&self) -> bool {
        self.clusters.is_empty()
            && self.contexts.is_empty()
            && self.users.is_empty()
            && self.current_context.is_none()
    }

    /// Takes in what `next` has and this has not: the first entry of a name wins as a
    /// whole.
    pub(super) fn merge(&mut self, next: Self) {
        append(&mut self.clusters, next.clusters, |entry| &entry.name);
        append(&mut self.contexts, next.contexts, |entry| &entry.name);
        append(&mut self.users, next.users, |entry| &entry.name);
        let current = next.current_context.filter(|name| !name.is_empty());
        self.current_context = self.current_context.take().or(current);
    }

    /// Two entries of one name in one file: whoever wrote it meant one of them, and
    /// nobody knows which.
    fn check_names(&self) -> Result<(), String> {
        once("cluster", self.clusters.iter().map(|entry| &entry.name))?;
        once("context", self.contexts.iter().map(|entry| &entry.name))?;
        once("user", self.users.iter().map(|entry| &entry.name))
    }

    fn resolve_paths(&mut self, directory: &Path) {
        let resolve = |path: &mut Option<String>| {
            if let Some(text) = path.as_mut().filter(|text| !text.is_empty()) {
                *text = directory.join(&*text).to_string_lossy().into_owned();
            }
        };
        let clusters = self.clusters.iter_mut();
        for cluster in clusters.filter_map(|entry| entry.cluster.as_mut()) {
            resolve(&mut cluster.certificate_authority);
        }
        let users = self.users.iter_mut();
        for user in users.filter_map(|entry| entry.auth_info.as_mut()) {
            resolve(&mut user.client_certificate);
            resolve(&mut user.client_key);
            resolve(&mut user.token_file);
            if let Some(exec) = &mut user.exec
                // A bare name is looked up in PATH.
                && exec.command.iter().any(|command| command.contains(MAIN_SEPARATOR))
            {
                resolve(&mut exec.command);
            }
        }
    }
}

/// `users: null` is what an empty list becomes in some tools.
fn null_is_empty<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn once<'a>(kind: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("{kind} {name:?} is there twice"));
        }
    }
    Ok(())
}

fn append<T>(into: &mut Vec<T>, next: Vec<T>, name: impl Fn(&T) -> &String) {
    for entry in next {
        if !into.iter().any(|known| name(known) == name(&entry)) {
            into.push(entry);
        }
    }
}
