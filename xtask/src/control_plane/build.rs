//! `go build` of `tests/control-plane`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{fs, io};

use crate::missing::Missing;
use crate::task::root;

/// The binary that [`build`] made: all components, and kubectl, in one file.
#[derive(Debug, Clone)]
pub(crate) struct Binary {
    path: PathBuf,
}

/// Why there is no binary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// The machine has no Go.
    #[error("go is needed")]
    Go(#[source] Missing),
    /// A program or a file could not be used at all.
    #[error("cannot use {path}")]
    Io {
        /// The program or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// `go.mod` does not say which Kubernetes to build.
    #[error("tests/control-plane/go.mod requires no k8s.io/kubernetes")]
    NoVersion,
    /// The compiler refused; it has printed why.
    #[error("go build failed ({0})")]
    Failed(ExitStatus),
}

/// Builds the binary, or finds out that it is up to date, and returns it.
///
/// A first build compiles most of Kubernetes: several minutes on two cores,
/// and a line on stderr says so. Go's own cache makes every later one a matter
/// of seconds, so callers need not avoid it.
///
/// # Errors
/// [`BuildError`]; in most cases Go is missing, or the module proxy cannot be
/// reached.
pub(crate) fn build() -> Result<Binary, BuildError> {
    let module = module();
    let go_mod = module.join("go.mod");
    let text = fs::read_to_string(&go_mod).map_err(|source| BuildError::Io {
        path: go_mod,
        source,
    })?;
    let version = kubernetes_version(&text).ok_or(BuildError::NoVersion)?;

    let binary = Binary::expected();
    let mut go = Command::new("go")
        .args(arguments(version, &binary.path))
        .current_dir(&module)
        .env("CGO_ENABLED", "0")
        .spawn()
        .map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => BuildError::Go(Missing::Go),
            _ => unusable(source),
        })?;
    if !binary.path.exists() {
        // A silence of minutes would look like a hang. Not before there is a Go to wait for.
        eprintln!("building Kubernetes {version} in tests/control-plane: minutes, the first time");
    }
    let status = go.wait().map_err(unusable)?;
    if status.success() {
        Ok(binary)
    } else {
        Err(BuildError::Failed(status))
    }
}

fn unusable(source: io::Error) -> BuildError {
    BuildError::Io {
        path: "go".into(),
        source,
    }
}

pub(super) fn module() -> PathBuf {
    root().join("tests/control-plane")
}

fn arguments(version: &str, output: &Path) -> Vec<String> {
    vec![
        "build".into(),
        "-trimpath".into(),
        "-ldflags".into(),
        linker_flags(version),
        "-o".into(),
        output.display().to_string(),
        ".".into(),
    ]
}

/// `-s -w` drops symbols and debug information, a third of the size. The rest
/// tells the components who they are: upstream's release build does the same.
fn linker_flags(version: &str) -> String {
    let mut numbers = version.trim_start_matches('v').split('.');
    let major = numbers.next().unwrap_or_default();
    let minor = numbers.next().unwrap_or_default();
    let mut flags = "-s -w".to_owned();
    for package in [
        "k8s.io/component-base/version",
        "k8s.io/client-go/pkg/version",
    ] {
        // The commit is unknown; its default is a placeholder that ends up in
        // every user agent.
        for (name, value) in [
            ("gitCommit", ""),
            ("gitVersion", version),
            ("gitMajor", major),
            ("gitMinor", minor),
        ] {
            flags.push_str(&format!(" -X {package}.{name}={value}"));
        }
    }
    flags
}

fn kubernetes_version(go_mod: &str) -> Option<&str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("k8s.io/kubernetes"))
            .then(|| words.next())
            .flatten()
    })
}

// === impl Binary ===

impl Binary {
    /// Where the binary is, or would be: it need not exist.
    pub(super) fn expected() -> Self {
        Self {
            path: module().join("bin/control-plane"),
        }
    }

    #[cfg(test)]
    pub(super) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// The file, absolute.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GO_MOD: &str = "
require (
\tk8s.io/kubectl v0.36.1
\tk8s.io/kubernetes v1.36.1
)
";

    #[test]
    fn the_version_is_the_one_that_go_mod_requires() {
        assert_eq!(kubernetes_version(GO_MOD), Some("v1.36.1"));
        assert_eq!(kubernetes_version("require k8s.io/api v0.36.1"), None);
    }

    #[test]
    fn the_real_go_mod_names_a_version() {
        let text = fs::read_to_string(module().join("go.mod")).unwrap();
        assert!(kubernetes_version(&text).unwrap().starts_with("v1."));
    }

    #[test]
    fn the_components_are_told_their_version() {
        let flags = linker_flags("v1.36.1");
        assert!(flags.starts_with("-s -w "), "{flags}");
        for flag in [
            "-X k8s.io/component-base/version.gitVersion=v1.36.1",
            "-X k8s.io/component-base/version.gitMajor=1",
            "-X k8s.io/component-base/version.gitMinor=36",
            "-X k8s.io/client-go/pkg/version.gitVersion=v1.36.1",
        ] {
            assert!(flags.contains(flag), "{flag} is not in {flags}");
        }
    }
}
