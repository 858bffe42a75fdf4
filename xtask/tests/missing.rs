//! What `cargo xtask` says on a machine that lacks something.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::Command;

/// The last line of stderr and the exit code of a task, on a machine with these programs.
fn task(arguments: &str, programs: &[&str]) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    for program in programs {
        std::fs::write(folder.path().join(program), "").unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(arguments.split(' '))
        .env("PATH", folder.path())
        .env("DOCKER_HOST", "unix:///no/such/docker.sock")
        .env_remove("KUBECONFIG")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !Path::new("/no/such/docker.sock").exists(),
        "there is a Docker where none can be"
    );
    (stderr.trim_end().to_owned(), output.status.code())
}

/// One line that begins so, and exit code 2.
fn assert_missing(arguments: &str, programs: &[&str], begins: &str) {
    let (stderr, code) = task(arguments, programs);
    assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
    assert!(
        stderr.starts_with(&format!("error: {begins}")),
        "{arguments}: {stderr}"
    );
    assert!(stderr.contains("without "), "{arguments}: {stderr}");
    assert_eq!(code, Some(2), "{arguments}");
}

#[test]
fn without_docker() {
    let begins = "Docker is not installed; get ";
    assert_missing("control-plane image", &["go"], begins);
    for provider in ["k3s", "kind", "control-plane --as container"] {
        let arguments = format!("e2e --provider {provider}");
        assert_missing(&arguments, &["go", "kind"], begins);
    }
}

#[test]
fn without_a_daemon() {
    let begins = "the Docker daemon is not running (nobody answers at unix:///no/such/docker.sock)";
    assert_missing("e2e", &["docker"], begins);
}

#[test]
fn without_go() {
    for arguments in [
        "e2e --provider control-plane",
        "control-plane build",
        "judge sim",
    ] {
        assert_missing(arguments, &[], "Go is not on PATH");
    }
}

#[test]
fn without_kubectl() {
    let (stderr, code) = task("e2e --provider embedded", &[]);
    assert!(
        stderr.starts_with("error: no kubectl of 1.27 or later is on PATH"),
        "{stderr}"
    );
    assert_eq!(code, Some(2));
}

/// A comparison of nothing would be green.
#[test]
fn with_a_text_that_no_group_has() {
    let (stderr, code) = task("judge sim --only nowhere-at-all", &["go"]);
    assert_eq!(
        stderr,
        "error: --only nowhere-at-all: no group has this in its title, nor its file in its name"
    );
    assert_eq!(code, Some(2));
}

/// clap's own form, for what clap cannot know.
#[test]
fn with_flags_that_do_not_go_together() {
    let (stderr, code) = task("e2e --provider embedded --image a", &[]);
    assert_eq!(stderr, "error: --image is for another --provider");
    assert_eq!(code, Some(2));
}
