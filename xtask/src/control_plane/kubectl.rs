//! Which kubectl to use.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

use serde::Deserialize;

use super::build::{BuildError, build};
use crate::missing::Missing;

/// The oldest kubectl that will do. Older ones cannot `--subresource=scale`
/// without an alpha gate, and lie further from the server than its version
/// skew policy allows.
const OLDEST: (u32, u32) = (1, 27);

/// Why there is no kubectl.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KubectlError {
    /// None on PATH is new enough, and there is nothing to build one with.
    #[error("kubectl is needed")]
    Missing(#[source] Missing),
    /// None on PATH is new enough, and none could be built.
    #[error("no kubectl of 1.27 or later is on PATH, and building one failed")]
    Build(#[source] BuildError),
    /// The link beside the built binary could not be made.
    #[error("cannot link {path}")]
    Link {
        /// The link.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VersionOutput {
    client_version: ClientVersion,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientVersion {
    git_version: String,
}

/// Returns a kubectl of 1.27 or later: the first on PATH, or else the one in
/// the binary that [`build`] makes, which may take minutes.
///
/// The file's name is `kubectl` either way, so that its directory can stand
/// in a PATH.
///
/// # Errors
/// [`KubectlError`] if there is none and none can be built.
pub(crate) fn kubectl() -> Result<PathBuf, KubectlError> {
    match on_path(&env::var_os("PATH").unwrap_or_default()) {
        Some(path) => Ok(path),
        None => match build() {
            Ok(binary) => link(binary.path()),
            Err(BuildError::Go(_)) => Err(KubectlError::Missing(Missing::Kubectl)),
            Err(error) => Err(KubectlError::Build(error)),
        },
    }
}

/// Keeps kubectl from the settings and the cache in its user's home, and from the user's
/// program for `diff`: what it finds of a server goes into a folder beside `kubeconfig`.
pub(crate) fn keep_to_itself(command: &mut tokio::process::Command, kubeconfig: &Path) {
    command
        .env("KUBECACHEDIR", kubeconfig.with_file_name("kubectl-cache"))
        .env("KUBERC", "off")
        .env_remove("KUBECTL_EXTERNAL_DIFF");
}

fn on_path(path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path)
        .map(|directory| directory.join("kubectl"))
        .find(|candidate| version(candidate).is_some_and(|version| version >= OLDEST))
}

/// The binary is a kubectl when it is called by that name.
fn link(binary: &Path) -> Result<PathBuf, KubectlError> {
    let path = binary.with_file_name("kubectl");
    match std::os::unix::fs::symlink("control-plane", &path) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            Err(KubectlError::Link { path, source })
        }
        _ => Ok(path),
    }
}

fn version(kubectl: &Path) -> Option<(u32, u32)> {
    let output = Command::new(kubectl)
        .args(["version", "--client", "--output=json"])
        .env("KUBERC", "off")
        .output()
        .ok()?;
    parse(&output.stdout)
}

/// Vendors decorate the version (`v1.32.4-gke.1`, `v1.27+`): only the first
/// two numbers count.
fn parse(output: &[u8]) -> Option<(u32, u32)> {
    let output: VersionOutput = serde_json::from_slice(output).ok()?;
    let mut numbers = output
        .client_version
        .git_version
        .strip_prefix('v')?
        .split(|c: char| !c.is_ascii_digit())
        .map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fake(git_version: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubectl");
        let output = format!(r#"{{"clientVersion": {{"gitVersion": "{git_version}"}}}}"#);
        fs::write(&path, format!("#!/bin/sh\necho '{output}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        directory
    }

    #[test]
    fn the_first_kubectl_that_is_new_enough_is_taken() {
        let (none, old, first, second) = (
            tempfile::tempdir().unwrap(),
            fake("v1.26.9"),
            fake("v1.27.0"),
            fake("v1.36.1"),
        );
        let path =
            env::join_paths([&none, &old, &first, &second].map(tempfile::TempDir::path)).unwrap();
        assert_eq!(on_path(&path), Some(first.path().join("kubectl")));
        let path = env::join_paths([&none, &old].map(tempfile::TempDir::path)).unwrap();
        assert_eq!(on_path(&path), None);
    }

    #[test]
    fn the_built_one_is_called_kubectl_and_can_be_asked_for_again() {
        let directory = tempfile::tempdir().unwrap();
        let binary = directory.path().join("control-plane");
        fs::write(&binary, "x").unwrap();
        for _ in 0..2 {
            let path = link(&binary).unwrap();
            assert_eq!(path, directory.path().join("kubectl"));
            assert_eq!(fs::read(&path).unwrap(), b"x");
        }
    }

    fn parsed(git_version: &str) -> Option<(u32, u32)> {
        parse(format!(r#"{{"clientVersion": {{"gitVersion": "{git_version}"}}, "kustomizeVersion": "v5"}}"#).as_bytes())
    }

    #[test]
    fn decorated_versions_are_understood() {
        assert_eq!(parsed("v1.36.1"), Some((1, 36)));
        assert_eq!(parsed("v1.32.4-dispatcher"), Some((1, 32)));
        assert_eq!(parsed("v1.27+"), Some((1, 27)));
    }

    #[test]
    fn what_is_no_version_is_no_kubectl() {
        assert_eq!(parsed("unknown"), None);
        assert_eq!(parsed("v1"), None);
        assert_eq!(parse(b"Client Version: v1.32.4"), None);
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(parsed("v1.9.0").unwrap() < OLDEST);
        assert!(parsed("v1.26.9").unwrap() < OLDEST);
        assert!(parsed("v1.100.0").unwrap() >= OLDEST);
        assert!(parsed("v2.0.0").unwrap() >= OLDEST);
    }
}
