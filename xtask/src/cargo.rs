use std::process::{Command, Stdio};

use crate::task::root;

/// `cargo` in the workspace, as the person would call it.
///
/// `cargo xtask` hands its own package's variables down, and some build scripts run again
/// when one of them changes: without this, each call would build half of the tree.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let of_this_package = [
            "CARGO_BIN_",
            "CARGO_CRATE_",
            "CARGO_MANIFEST_",
            "CARGO_PKG_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix));
        if of_this_package {
            command.env_remove(name.as_ref());
        }
    }
    command
}

/// Whether `cargo NAME` is installed.
pub(crate) fn has_subcommand(name: &str) -> bool {
    cargo()
        .args([name, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
