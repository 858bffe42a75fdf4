use std::io;
use std::path::PathBuf;

use crate::cargo::cargo;

/// Builds the plugin quietly, and says where it is.
pub(crate) fn build() -> io::Result<PathBuf> {
    let status = cargo()
        .args(["build", "--quiet", "--package", "kubectl-minrep"])
        .status()?;
    if status.success() {
        path()
    } else {
        Err(io::Error::other("kubectl-minrep does not build"))
    }
}

/// Where [`build`] puts the plugin: beside this program, in the same target folder.
fn path() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("kubectl-minrep"))
}
