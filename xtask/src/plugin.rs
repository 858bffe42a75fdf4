use std::io::{self, IsTerminal};
use std::path::PathBuf;

use tokio::process::Command;

use crate::cargo::cargo;

/// Builds the plugin and says where it is. Only a person at a terminal is shown how far
/// the build is; it takes minutes the first time.
///
/// As part of the workspace: by itself it would get another selection of features, and
/// everything below it would be built a second time.
pub(crate) fn build() -> io::Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--workspace", "--bin", "kubectl-minrep"]);
    if !io::stderr().is_terminal() {
        build.arg("--quiet");
    }
    let status = build.status()?;
    if status.success() {
        path()
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

/// Where [`build`] puts the plugin: beside this program, in the same target folder.
fn path() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("kubectl-minrep"))
}
