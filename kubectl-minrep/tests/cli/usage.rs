//! What needs neither a kubeconfig nor a server.

use insta::assert_snapshot;

use crate::process::Minrep;

#[tokio::test]
async fn help_is_data() {
    let ended = Minrep::new(&["--help"]).end().await.with_code(0);
    assert!(ended.stdout.starts_with("Keep opted-in Deployments"));
    assert_eq!(ended.stderr, "");
}

#[tokio::test]
async fn a_missing_command_is_a_mistake() {
    let ended = Minrep::new(&[]).end().await.with_code(2);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("Usage: kubectl minrep"));
}

#[tokio::test]
async fn mistakes_are_talk() {
    for arguments in [
        &["run", "--min=0"][..],
        &["run", "-l", "a in (b"],
        &["reconcile", "once", "-A", "deployment/web"],
        &["reconcile", "once", "statefulset/db"],
        &["stop"],
    ] {
        let ended = Minrep::new(arguments).end().await.with_code(2);
        assert_eq!(ended.stdout, "", "{arguments:?}");
        assert!(ended.stderr.starts_with("error: "), "{ended:?}");
        assert!(
            ended.stderr.contains("\n\nSee 'kubectl minrep"),
            "{ended:?}"
        );
    }
}

#[tokio::test]
async fn version_needs_nothing() {
    let ended = Minrep::new(&["version"]).end().await.with_code(0);
    let first = ended.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("kubectl-minrep "), "{first}");
    assert_eq!(ended.stderr, "");
    let ended = Minrep::new(&["version", "-o", "json"])
        .end()
        .await
        .with_code(0);
    let json = ended.json();
    assert_eq!(json["apiVersion"], "minrep.dev/v1alpha1");
    assert_eq!(json["kind"], "Version");
    assert_eq!(json["clientVersion"]["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn flags_have_twins_in_the_environment() {
    let ended = Minrep::new(&["run"])
        .env("MINREP_MIN", "few")
        .end()
        .await
        .with_code(2);
    assert_snapshot!(ended.talk(), @r"
    error: invalid value 'few' for '--min <N>': must be a whole number from 1 to 2147483647

    See 'kubectl minrep run -h' for help and examples.
    ");

    let ended = Minrep::new(&["run", "--retry-max=1s"])
        .env("MINREP_RETRY_BASE", "2s")
        .end()
        .await
        .with_code(2);
    assert_snapshot!(ended.talk(), @r"
    error: --retry-max (1s) cannot be below --retry-base (2s): the waits between two tries grow from the one to the other

    See 'kubectl minrep run -h' for help and examples.
    ");
}
