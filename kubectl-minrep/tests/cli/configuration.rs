//! Finding the cluster, and saying what is missing. Nothing is sent on any of these.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::process::{Ended, Minrep};

const ONCE: [&str; 4] = ["reconcile", "once", "-n", "shop"];

fn directory() -> TempDir {
    TempDir::new().expect("a directory can be made")
}

/// The text without the directory of the test.
fn talk(ended: &Ended, directory: &Path) -> String {
    let directory = directory.to_str().expect("its name is text");
    ended.talk().replace(directory, "DIR")
}

/// C-40: neither a home, nor a kubeconfig, nor a pod.
#[tokio::test]
async fn nothing_is_configured() {
    let directory = directory();
    let ended = Minrep::new(&ONCE)
        .env("HOME", directory.path())
        .end()
        .await
        .with_code(3);
    assert_snapshot!(talk(&ended, directory.path()), @r"
    error: no Kubernetes configuration found

    hint: looked at KUBECONFIG (unset), DIR/.kube/config (missing), in-cluster service account (not in a pod)
    hint: pass `--kubeconfig FILE`, or set KUBECONFIG
    ");
    assert_eq!(ended.stdout, "");
    let left: Vec<_> = fs::read_dir(directory.path())
        .expect("it is there")
        .collect();
    assert!(left.is_empty(), "no cache was made: {left:?}");
}

#[tokio::test]
async fn an_unknown_context_is_told_with_the_known_ones() {
    let cluster = Cluster::with_web().await;
    let ended = cluster
        .minrep(&["reconcile", "once", "--context", "sin"])
        .end()
        .await
        .with_code(3);
    let directory = cluster.kubeconfig();
    let directory = directory.parent().expect("it has one");
    assert_snapshot!(talk(&ended, directory), @r#"
    error: context "sin" does not exist in DIR/config

    hint: did you mean "sim"? known contexts: sim
    "#);
    assert_eq!(cluster.server.requests().len(), 0);
}

/// C-47: a missing file in the list, and empty entries.
#[tokio::test]
async fn missing_and_empty_entries_of_kubeconfig_are_skipped() {
    let cluster = Cluster::with_web().await;
    let file = cluster.kubeconfig();
    let file = file.to_str().expect("its name is text");
    for list in [format!("~/nope:{file}"), format!(":{file}:")] {
        Minrep::new(&ONCE)
            .env("KUBECONFIG", &list)
            .end()
            .await
            .with_code(0);
    }
    assert_eq!(cluster.replicas("shop", "web"), 2);
}

/// C-47: nothing but a path with a `~` that no shell expanded.
#[tokio::test]
async fn an_unexpanded_tilde_is_pointed_out() {
    let directory = directory();
    let ended = Minrep::new(&ONCE)
        .env("KUBECONFIG", "~/nope")
        .env("HOME", directory.path())
        .end()
        .await
        .with_code(3);
    assert_snapshot!(talk(&ended, directory.path()), @r"
    error: no Kubernetes configuration found

    hint: looked at ~/nope (missing: no shell expanded its ~), in-cluster service account (not in a pod)
    hint: pass `--kubeconfig FILE`, or set KUBECONFIG
    ");
    let ended = Minrep::new(&["run", "--kubeconfig=~/nope"])
        .end()
        .await
        .with_code(3);
    assert_snapshot!(ended.talk(), @r"
    error: the kubeconfig file ~/nope does not exist

    hint: the shell did not expand `~`: write it as `$HOME`
    ");
}

/// C-20 in one: a file that PowerShell wrote.
#[tokio::test]
async fn a_kubeconfig_in_utf_16_is_read() {
    let cluster = Cluster::with_web().await;
    let text = cluster.server.kubeconfig().replace('\n', "\r\n");
    let bytes: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(cluster.kubeconfig(), bytes).expect("a file can be written");
    cluster.minrep(&ONCE).end().await.with_code(0);
    assert_eq!(cluster.replicas("shop", "web"), 2);
}

#[tokio::test]
async fn a_broken_file_is_named_and_not_quoted() {
    let directory = directory();
    let file = directory.path().join("config");
    fs::write(
        &file,
        "users: [{name: s3cret, user: {token: s3cret}}\nkind: {",
    )
    .expect("written");
    let ended = Minrep::new(&ONCE)
        .env("KUBECONFIG", &file)
        .end()
        .await
        .with_code(3);
    let text = talk(&ended, directory.path());
    assert!(
        text.starts_with("error: cannot parse the kubeconfig file DIR/config: "),
        "{text}"
    );
    assert!(!text.contains("s3cret"), "{text}");
}

fn with_helper(directory: &Path, exec: &str) -> std::path::PathBuf {
    let file = directory.join("config");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: prod\n\
         clusters: [{{name: prod-eu, cluster: {{server: 'https://127.0.0.1:1'}}}}]\n\
         contexts: [{{name: prod, context: {{cluster: prod-eu, user: ana}}}}]\n\
         users:\n- name: ana\n  user:\n    exec:\n      \
         apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n{exec}\n"
    );
    fs::write(&file, text).expect("a file can be written");
    file
}

#[tokio::test]
async fn a_credential_helper_that_is_not_installed() {
    let directory = directory();
    let exec = "      command: no-such-helper\n      installHint: |\n        Get it from https://example.com/helper";
    let file = with_helper(directory.path(), exec);
    let ended = Minrep::new(&ONCE)
        .env("KUBECONFIG", &file)
        .end()
        .await
        .with_code(3);
    assert_snapshot!(ended.talk(), @r#"
    error: credential helper "no-such-helper" not found in PATH

    Get it from https://example.com/helper
    "#);
}

#[tokio::test]
async fn a_credential_helper_that_fails() {
    let directory = directory();
    let exec = "      command: /bin/sh\n      args: ['-c', 'echo Token has expired >&2; exit 7']";
    let file = with_helper(directory.path(), exec);
    let ended = Minrep::new(&ONCE)
        .env("KUBECONFIG", &file)
        .end()
        .await
        .with_code(3);
    assert_snapshot!(ended.talk(), @r#"
    error: credential helper "/bin/sh" for user "ana" failed with exit code 7

      sh: Token has expired
    hint: run the login command of that tool, then try again
    "#);
}
