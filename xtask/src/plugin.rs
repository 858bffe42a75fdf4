use std::io::{self, IsTerminal};
use std::path::PathBuf;

use tokio::process::Command;

use crate::cargo::cargo;

/// How the plugin is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Quickly
    Dev,
    /// As its users have it: for whatever is measured
    Release,
}

/// Builds the plugin and says where it is. Only a person at a terminal is shown how far
/// the build is; it takes minutes the first time.
///
/// As part of the workspace: by itself it would get another selection of features, and
/// everything below it would be built a second time.
pub(crate) fn build(profile: Profile) -> io::Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--workspace", "--bin", "kubectl-minrep"]);
    if profile == Profile::Release {
        build.arg("--release");
    }
    if !io::stderr().is_terminal() {
        build.arg("--quiet");
    }
    let status = build.status()?;
    if status.success() {
        path(profile)
    } else {
        Err(io::Error::other("kubectl-minrep does not build"))
    }
}

/// Keeps settings of whoever calls the task from the plugin: its defaults are what is
/// shown and tested.
pub(crate) fn forget_settings(command: &mut Command) {
    command.env_remove("RUST_LOG");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MINREP_") {
            command.env_remove(name);
        }
    }
}

/// Where [`build`] puts the plugin: in the target folder of this program, which is a dev
/// build itself.
fn path(profile: Profile) -> io::Result<PathBuf> {
    let this = std::env::current_exe()?;
    Ok(match profile {
        Profile::Dev => this.with_file_name("kubectl-minrep"),
        Profile::Release => this.with_file_name("../release/kubectl-minrep"),
    })
}
