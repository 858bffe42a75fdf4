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

#[tokio::test]
async fn a_cluster_that_refuses_is_told_in_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        format!("{DEV}\n[ \"$1\" = config ] && exit 0\necho one >&2; echo forbidden >&2; exit 1");
    let existing = fake(folder.path(), &script);
    let error = existing.start().await.unwrap_err();
    // It has made nothing, and is not asked to remove it.
    existing.remove().await.unwrap();
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    assert!(!calls.contains("delete"), "{calls}");
    assert!(matches!(
        Missing::behind(error.as_ref()),
        Some(Missing::Cluster { why, .. }) if why == "forbidden"
    ));
}
