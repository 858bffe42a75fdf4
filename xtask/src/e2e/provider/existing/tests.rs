use std::os::unix::fs::PermissionsExt;

use super::*;

/// A stand-in for kubectl: it writes down how it is called and goes on with `script`.
fn fake(folder: &Path, script: &str) -> Existing {
    let kubectl = folder.join("kubectl");
    let text = format!(
        "#!/bin/sh\necho \"${{KUBECONFIG##*/}} $*\" >> {}/calls\n{script}\n",
        folder.display()
    );
    std::fs::write(&kubectl, text).unwrap();
    std::fs::set_permissions(&kubectl, std::fs::Permissions::from_mode(0o700)).unwrap();
    Existing {
        kubectl,
        context: "dev".to_owned(),
        name: RunName::of_test("minrep-e2e-1"),
        kubeconfig: folder.join("ours"),
    }
}

const DEV: &str = r#"case "$*" in config*) echo '{"contexts": [{"name": "dev", "context": {"namespace": "theirs"}}]}';; *) cat > /dev/null;; esac"#;

#[tokio::test]
async fn the_users_kubeconfig_is_only_read_and_only_our_namespace_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let existing = fake(folder.path(), DEV);
    existing.start().await.unwrap();
    existing.remove().await.unwrap();
    let ours = std::fs::read_to_string(&existing.kubeconfig).unwrap();
    assert!(ours.contains(r#""namespace":"minrep-e2e-1""#), "{ours}");
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    // The first one has whatever KUBECONFIG the user has.
    let calls: Vec<&str> = calls
        .lines()
        .map(|line| {
            line.split_once("config view")
                .map_or(line, |(_, rest)| rest)
        })
        .collect();
    insta::assert_snapshot!(calls.join("\n"), @"
 --minify --flatten --raw --context=dev
ours create --validate=false --request-timeout=30s -f -
ours delete namespace minrep-e2e-1 --ignore-not-found
");
}

#[tokio::test]
async fn a_context_that_is_not_there_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let existing = fake(folder.path(), "exit 1");
    let error = existing.start().await.unwrap_err();
    assert!(matches!(
        Missing::behind(error.as_ref()),
        Some(Missing::Context { context }) if context == "dev"
    ));
    // Nothing was made, so nothing is called to remove it.
    existing.remove().await.unwrap();
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "{calls}");
}

/// The server's answer to everything but `config` and `delete` is `said`, and then to `delete`
/// it is `deleted`.
fn refusing(folder: &Path, said: &str, deleted: &str) -> Existing {
    let script = format!(
        "{DEV}\ncase $1 in config) exit 0;; delete) exit {deleted};; esac\necho one >&2; echo '{said}' >&2; exit 1"
    );
    fake(folder, &script)
}

fn refusal(error: &(dyn Error + 'static)) -> String {
    match Missing::behind(error) {
        Some(Missing::Cluster { why, .. }) => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_cluster_that_refuses_is_told_in_its_own_words() {
    for said in [
        "Error from server (Forbidden): namespaces is forbidden",
        r#"error: unable to recognize "STDIN": Get "https://a/api": net/http: timeout"#,
        "Unable to connect to the server: dial tcp: lookup nowhere: no such host",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let existing = refusing(folder.path(), said, "1");
        let error = existing.start().await.unwrap_err();
        assert!(!existing.is_made());
        // It has made nothing, and is not asked to remove it.
        existing.remove().await.unwrap();
        let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
        assert!(!calls.contains("delete"), "{calls}");
        assert_eq!(refusal(error.as_ref()), said);
    }
}

#[tokio::test]
async fn a_lost_answer_leaves_no_namespace() {
    let said = "error: http2: client connection lost";
    let folder = tempfile::tempdir().unwrap();
    let existing = refusing(folder.path(), said, "0");
    let error = existing.start().await.unwrap_err();
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    let last = calls.lines().last().unwrap();
    assert_eq!(
        last,
        "ours delete namespace minrep-e2e-1 --ignore-not-found"
    );
    assert_eq!(refusal(error.as_ref()), said);
    assert!(!existing.is_made());
}

#[tokio::test]
async fn a_namespace_that_may_be_left_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let existing = refusing(folder.path(), "timeout", "1");
    let error = existing.start().await.unwrap_err();
    insta::assert_snapshot!(refusal(error.as_ref()), @"timeout; it may have made a namespace: kubectl delete namespace minrep-e2e-1 --context=dev");
}
