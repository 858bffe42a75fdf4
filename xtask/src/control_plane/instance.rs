//! One running control plane.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use super::build::Binary;
use crate::task::root;

/// What to run, and where. The default is all components, in a fresh directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    /// Leave out controller manager, scheduler and node: Deployments are then
    /// only data, and Pods need no service account.
    pub(crate) api_only: bool,
    /// The directory of the instance; it must be empty or absent, and is
    /// removed at the end. Default: a new one below `target/control-plane`.
    pub(crate) dir: Option<PathBuf>,
    /// Keep the components' logs in this directory.
    pub(crate) logs: Option<PathBuf>,
    /// Have kube-apiserver write an audit log to this file: one JSON object a
    /// line, with the body of every write.
    pub(crate) audit_log: Option<PathBuf>,
}

/// A running control plane. Dropping it stops it, waits for its end, and
/// leaves nothing behind; [`stop`](Self::stop) does the same and tells errors.
///
/// It also ends by itself, within a second, when this process is killed.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    // `None` once it was waited for.
    child: Option<Child>,
    stdout: Option<BufReader<ChildStdout>>,
    kubeconfig: PathBuf,
    binary: Binary,
    dir: PathBuf,
}

/// Why an instance could not be started or stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstanceError {
    /// No directory for it could be made.
    #[error("cannot make a directory in {path}")]
    Directory {
        /// The parent directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The process could not be started, read or waited for.
    #[error("cannot run {path}")]
    Run {
        /// The binary.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It ended before it was ready; it has printed why.
    #[error("the control plane did not become ready ({0})")]
    NotReady(ExitStatus),
    /// It did not end as it was asked to, for instance because somebody
    /// killed it or a component died; it has printed why.
    #[error("the control plane ended badly ({0})")]
    Ended(ExitStatus),
}

/// Ends the instance that another process runs in `dir`, and waits until
/// nothing of it is left. None there is not an error.
///
/// # Errors
/// [`InstanceError`] if it cannot be ended, for instance because it is
/// somebody else's.
pub(super) fn down(binary: &Binary, dir: &Path) -> Result<(), InstanceError> {
    let status = Command::new(binary.path())
        .arg("down")
        .arg("--dir")
        .arg(dir)
        .status()
        .map_err(|source| run_error(binary, source))?;
    if status.success() {
        Ok(())
    } else {
        Err(InstanceError::Ended(status))
    }
}

fn arguments(options: &Options, dir: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        vec!["up".into(), "--lifeline".into(), "--dir".into(), dir.into()];
    if options.api_only {
        arguments.push("--api-only".into());
    }
    for (flag, path) in [
        ("--logs", &options.logs),
        ("--audit-log", &options.audit_log),
    ] {
        if let Some(path) = path {
            arguments.push(flag.into());
            arguments.push(path.into());
        }
    }
    arguments
}

/// Outside `/tmp`, so that a reboot's or a cleaner's idea of "old" never
/// removes a running instance's data.
fn fresh_dir() -> Result<PathBuf, InstanceError> {
    let path = root().join("target/control-plane");
    std::fs::create_dir_all(&path)
        .and_then(|()| tempfile::Builder::new().prefix("run-").tempdir_in(&path))
        .map(tempfile::TempDir::keep)
        .map_err(|source| InstanceError::Directory { path, source })
}

fn run_error(binary: &Binary, source: io::Error) -> InstanceError {
    InstanceError::Run {
        path: binary.path().to_owned(),
        source,
    }
}

// === impl ControlPlane ===

impl ControlPlane {
    /// Starts an instance and waits until it can be used: kube-apiserver is
    /// ready and, unless `api_only`, a Pod in `default` would be scheduled.
    /// That takes about four seconds and is given up after a minute.
    ///
    /// Blocks. The instance's own messages go to this process's stderr.
    ///
    /// # Errors
    /// [`InstanceError`]; nothing is left running then.
    pub(crate) fn start(binary: &Binary, options: &Options) -> Result<Self, InstanceError> {
        let dir = match &options.dir {
            Some(dir) => dir.clone(),
            None => fresh_dir()?,
        };
        let mut child = Command::new(binary.path())
            .args(arguments(options, &dir))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for this process, which then stops the instance.
            .process_group(0)
            .spawn()
            .map_err(|source| run_error(binary, source))?;
        let mut stdout = child.stdout.take().map(BufReader::new);
        let mut instance = Self {
            child: Some(child),
            stdout: None,
            kubeconfig: PathBuf::new(),
            binary: binary.clone(),
            dir,
        };

        let mut line = String::new();
        if let Some(stdout) = &mut stdout {
            stdout
                .read_line(&mut line)
                .map_err(|source| run_error(binary, source))?;
        }
        if line.is_empty() {
            let status = instance.end().map_err(|source| run_error(binary, source))?;
            return Err(InstanceError::NotReady(status.unwrap_or_default()));
        }
        instance.stdout = stdout;
        instance.kubeconfig = line.trim_end().into();
        Ok(instance)
    }

    /// The kubeconfig of an administrator, mode 0600, gone with the instance.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Stops the instance and waits until all of its processes and files are
    /// gone, which takes some tenths of a second.
    ///
    /// # Errors
    /// [`InstanceError::Ended`] if it had already ended by itself.
    pub(crate) fn stop(mut self) -> Result<(), InstanceError> {
        let binary = self.binary.clone();
        match self.end().map_err(|source| run_error(&binary, source))? {
            Some(status) if !status.success() => Err(InstanceError::Ended(status)),
            _ => Ok(()),
        }
    }

    /// What the instance prints after its first line: nothing, until it ends.
    pub(super) fn take_stdout(&mut self) -> Option<BufReader<ChildStdout>> {
        self.stdout.take()
    }

    fn end(&mut self) -> io::Result<Option<ExitStatus>> {
        let Some(mut child) = self.child.take() else {
            return Ok(None);
        };
        // Closes its stdin first: that is the request to end.
        let status = child.wait()?;
        // One that was killed could not clean up. One that refused to start has
        // nothing to clean up, and the directory may be another's.
        if status.signal().is_some() && self.dir.exists() {
            let _ = down(&self.binary, &self.dir);
        }
        Ok(Some(status))
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // Nobody is left to tell an error to.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests;
