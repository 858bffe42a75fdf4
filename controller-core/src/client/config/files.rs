use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::{ConfigError, Environment, Place, text};

/// The kubeconfig that a set of files make together.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) merged: Document,
    /// The files that exist, in order.
    pub(super) read: Vec<PathBuf>,
    /// Every place that was looked at.
    pub(super) looked_at: Vec<Place>,
}

/// Reads what kubectl would read: the file that was asked for, else the variable's list,
/// else the home's. An empty result is no error here; the loader has the pod to try.
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
        let directory = file.parent().unwrap_or(Path::new(""));
        let documents =
            Document::read(&text, directory).map_err(|source| ConfigError::Unparseable {
                file: file.to_owned(),
                source,
            })?;
        for document in documents {
            self.merged.merge(document);
        }
        self.looked(&name, "no configuration in it");
        self.read.push(file.to_owned());
        Ok(true)
    }

    fn looked(&mut self, name: &str, found: &str) {
        self.looked_at.push(Place {
            name: name.to_owned(),
            found: found.to_owned(),
        });
    }
}
