use std::collections::HashSet;
use std::io;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use kube::config::Kubeconfig;
use serde_saphyr::{DuplicateKeyPolicy, Options};

use super::{ConfigError, Environment, Place, text};

/// The kubeconfig that a set of files make together.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) merged: Kubeconfig,
    /// The files that exist, in order.
    pub(super) read: Vec<PathBuf>,
    /// Every place that was looked at.
    pub(super) looked_at: Vec<Place>,
}

/// Reads what kubectl would read.
pub(super) fn load(
    explicit: Option<&Path>,
    environment: &Environment,
) -> Result<Files, ConfigError> {
    let mut files = Files::default();
    if let Some(file) = explicit {
        if !files.add(file)? {
            return Err(ConfigError::MissingFile {
                file: file.to_owned(),
                unexpanded_tilde: file.starts_with("~"),
            });
        }
        return Ok(files);
    }
    if let Some(list) = environment.raw("KUBECONFIG") {
        let mut seen = HashSet::new();
        for file in std::env::split_paths(list) {
            // An empty entry is what a trailing colon leaves.
            if !file.as_os_str().is_empty() && seen.insert(file.clone()) {
                files.add(&file)?;
            }
        }
        return Ok(files);
    }
    files.looked("KUBECONFIG", "unset");
    match environment.home() {
        Some(home) => {
            files.add(&home.join(".kube").join("config"))?;
        }
        None => files.looked("~/.kube/config", "no home directory"),
    }
    Ok(files)
}

// === impl Files ===

impl Files {
    /// Whether there is nothing in it that could name a cluster.
    pub(super) fn is_empty(&self) -> bool {
        let merged = &self.merged;
        merged.clusters.is_empty()
            && merged.contexts.is_empty()
            && merged.auth_infos.is_empty()
            && merged.current_context.is_none()
    }

    /// The names of all contexts, sorted.
    pub(super) fn contexts(&self) -> Vec<String> {
        let contexts = self.merged.contexts.iter();
        let mut names: Vec<String> = contexts.map(|context| context.name.clone()).collect();
        names.sort();
        names
    }

    /// Merges one file in; false when it does not exist.
    fn add(&mut self, file: &Path) -> Result<bool, ConfigError> {
        let name = file.display().to_string();
        let text = match text::read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let found = if file.starts_with("~") {
                    "missing: no shell expanded its ~"
                } else {
                    "missing"
                };
                self.looked(&name, found);
                return Ok(false);
            }
            Err(source) => {
                return Err(ConfigError::Unreadable {
                    file: file.to_owned(),
                    source,
                });
            }
        };
        let unparseable = |source| ConfigError::Unparseable {
            file: file.to_owned(),
            source,
        };
        for mut document in parse(&text).map_err(|error| unparseable(error.into()))? {
            unique(&document).map_err(|problem| unparseable(problem.into()))?;
            resolve_paths(&mut document, file.parent().unwrap_or(Path::new("")));
            self.merge(document);
        }
        self.looked(&name, "no configuration in it");
        self.read.push(file.to_owned());
        Ok(true)
    }

    /// The first entry of a name wins as a whole.
    fn merge(&mut self, next: Kubeconfig) {
        let merged = &mut self.merged;
        append(&mut merged.clusters, next.clusters, |entry| &entry.name);
        append(&mut merged.contexts, next.contexts, |entry| &entry.name);
        append(&mut merged.auth_infos, next.auth_infos, |entry| &entry.name);
        let current = next.current_context.filter(|name| !name.is_empty());
        merged.current_context = merged.current_context.take().or(current);
    }

    fn looked(&mut self, name: &str, found: &str) {
        self.looked_at.push(Place {
            name: name.to_owned(),
            found: found.to_owned(),
        });
    }
}

fn parse(text: &str) -> Result<Vec<Kubeconfig>, serde_saphyr::Error> {
    let mut options = Options::default();
    // A snippet would print the lines around an error: tokens and keys.
    options.with_snippet = false;
    // As kubectl: merged files often have `kind` twice.
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    serde_saphyr::from_multiple_with_options(text, options)
}

/// Two entries of one name in one file: whoever wrote it meant one of them, and nobody
/// knows which.
fn unique(document: &Kubeconfig) -> Result<(), String> {
    twice("cluster", document.clusters.iter().map(|entry| &entry.name))?;
    twice("context", document.contexts.iter().map(|entry| &entry.name))?;
    twice("user", document.auth_infos.iter().map(|entry| &entry.name))
}

fn twice<'a>(kind: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
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

/// Paths in a kubeconfig are relative to the file that they stand in.
fn resolve_paths(document: &mut Kubeconfig, directory: &Path) {
    let resolve = |path: &mut Option<String>| {
        if let Some(text) = path.as_mut().filter(|text| !text.is_empty()) {
            *text = directory.join(&*text).to_string_lossy().into_owned();
        }
    };
    for cluster in document
        .clusters
        .iter_mut()
        .filter_map(|entry| entry.cluster.as_mut())
    {
        resolve(&mut cluster.certificate_authority);
    }
    for user in document
        .auth_infos
        .iter_mut()
        .filter_map(|entry| entry.auth_info.as_mut())
    {
        resolve(&mut user.client_certificate);
        resolve(&mut user.client_key);
        resolve(&mut user.token_file);
        if let Some(exec) = &mut user.exec {
            // A bare name is looked up in PATH.
            if exec
                .command
                .as_ref()
                .is_some_and(|command| command.contains(MAIN_SEPARATOR))
            {
                resolve(&mut exec.command);
            }
        }
    }
}
