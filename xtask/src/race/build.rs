//! The programs of the subjects.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::Command;

use super::subject::{Subject, SubjectError};
use crate::cargo::cargo;
use crate::task::root;

/// Builds `tests/race-subject` as users build a program: optimised.
///
/// By itself, not as part of the workspace, where it would get the features that the tests
/// need, a tokio whose clock can be paused among them. So the first build takes minutes.
pub(super) fn controller_core() -> Result<Subject, SubjectError> {
    let mut build = cargo();
    build.args(["build", "--release", "--package", "race-subject"]);
    if !io::stderr().is_terminal() {
        build.arg("--quiet");
    }
    finish(build, "cargo")?;
    let this = std::env::current_exe().map_err(|error| SubjectError::Build(error.to_string()))?;
    let subject = Subject::new(this.with_file_name("../release/race-subject"));
    Ok(match commit() {
        Some(commit) => subject.at(commit),
        None => subject,
    })
}

/// Builds the Go module `tests/peers/NAME`.
pub(super) fn peer(name: &str) -> Result<Subject, SubjectError> {
    let module = root().join("tests/peers").join(name);
    let program: PathBuf = module.join("bin").join(name);
    let mut build = Command::new("go");
    build
        .args(["build", "-trimpath", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(module)
        .env("CGO_ENABLED", "0");
    finish(build, "go")?;
    Ok(Subject::new(program))
}

/// What the compiler has to say it prints itself.
fn finish(mut build: Command, compiler: &str) -> Result<(), SubjectError> {
    let why = match build.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("{compiler} build failed ({status})"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("{compiler} is not on PATH")
        }
        Err(error) => format!("{compiler} does not start: {error}"),
    };
    Err(SubjectError::Build(why))
}

/// The commit that is checked out, marked if the tree differs from it. `None` without git.
fn commit() -> Option<String> {
    let described = Command::new("git")
        .args(["describe", "--always", "--dirty", "--exclude=*"])
        .current_dir(root())
        .output()
        .ok()?;
    let text = String::from_utf8(described.stdout).ok()?;
    described.status.success().then(|| text.trim().to_owned())
}
