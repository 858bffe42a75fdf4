use controller_core::client::{ConfigError, build, fetch};
use http::header::AUTHORIZATION;
use serde_json::Value;

use crate::scripted::{list, options};
use crate::server::{Authority, Server, data, empty_list, load};

/// What the server sees of a user.
async fn seen_of(user: &str) -> http::HeaderMap {
    let authority = Authority::new();
    let server = Server::https(authority.issue("127.0.0.1").server(None), empty_list()).await;
    let cluster = format!(
        "server: 'https://{}', certificate-authority-data: {}",
        server.address,
        data(&authority.pem)
    );
    let (loaded, _directory) = load(&cluster, user);
    let client = build(&loaded, &options()).unwrap();
    let _: Value = fetch(&client, list()).await.unwrap();
    server.seen()[0].headers.clone()
}

#[tokio::test]
async fn each_kind_of_credential_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    std::fs::write(&file, "from-file\n").unwrap();
    for (user, expected) in [
        ("token: inline".to_owned(), "Bearer inline"),
        (
            format!("tokenFile: '{}'", file.display()),
            "Bearer from-file",
        ),
        (
            format!("token: inline, tokenFile: '{}'", file.display()),
            "Bearer inline",
        ),
        ("username: ana, password: pw".to_owned(), "Basic YW5hOnB3"),
    ] {
        assert_eq!(seen_of(&user).await[AUTHORIZATION], expected, "{user}");
    }
    assert!(!seen_of("").await.contains_key(AUTHORIZATION));
}

/// KC-19.
#[tokio::test]
async fn impersonation_is_carried_in_full() {
    let seen = seen_of(
        "token: t, as: ben, as-uid: u-1, as-groups: [dev, ops], as-user-extra: {scope: [a]}",
    )
    .await;
    assert_eq!(seen["impersonate-user"], "ben");
    assert_eq!(seen["impersonate-uid"], "u-1");
    let groups: Vec<_> = seen.get_all("impersonate-group").iter().collect();
    assert_eq!(groups, ["dev", "ops"]);
    assert_eq!(seen["impersonate-extra-scope"], "a");
}

/// As client-go: a token in clear text could be read by anyone on the way.
#[tokio::test]
async fn nothing_secret_is_sent_without_tls() {
    let server = Server::http(empty_list()).await;
    let cluster = format!("server: 'http://{}'", server.address);
    for user in ["token: t, as: ben", "username: ana, password: pw"] {
        let (loaded, _directory) = load(&cluster, user);
        let client = build(&loaded, &options()).unwrap();
        let _: Value = fetch(&client, list()).await.unwrap();
    }
    let seen = server.seen();
    assert!(
        seen.iter()
            .all(|head| !head.headers.contains_key(AUTHORIZATION))
    );
    assert_eq!(seen[0].headers["impersonate-user"], "ben");
}

#[cfg(unix)]
mod helper {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A credential helper that counts its runs in `runs` beside it.
    fn script(directory: &std::path::Path, body: &str) -> String {
        let file = directory.join("helper");
        std::fs::write(
            &file,
            format!("#!/bin/sh\necho run >> \"$0.runs\"\n{body}\n"),
        )
        .unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        format!(
            "exec: {{apiVersion: client.authentication.k8s.io/v1, command: '{}', \
             interactiveMode: Never, installHint: 'brew install it'}}",
            file.display()
        )
    }

    fn failure(user: &str) -> ConfigError {
        let (loaded, _directory) = load("server: 'https://127.0.0.1:1'", user);
        build(&loaded, &options()).err().unwrap()
    }

    #[tokio::test]
    async fn a_helpers_token_is_sent_and_the_helper_runs_once() {
        let directory = tempfile::tempdir().unwrap();
        let user = script(
            directory.path(),
            r#"echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"helped"}}'"#,
        );
        assert_eq!(seen_of(&user).await[AUTHORIZATION], "Bearer helped");
        let runs = std::fs::read_to_string(directory.path().join("helper.runs")).unwrap();
        assert_eq!(runs, "run\n");
    }

    /// AU-10.
    #[tokio::test]
    async fn a_helper_that_fails_is_quoted_but_its_output_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let user = script(
            directory.path(),
            "echo s3cret-token; printf '\\033[31mToken has expired\\n' >&2; exit 73",
        );
        let error = failure(&user);
        let ConfigError::CredentialHelperFailed {
            exit_code, stderr, ..
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!(*exit_code, Some(73));
        assert_eq!(stderr, "U+001B[31mToken has expired");
        assert!(
            error
                .to_string()
                .ends_with(r#"for user "ana" failed with exit code 73"#)
        );
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }

    /// AU-10.
    #[tokio::test]
    async fn a_helper_that_is_not_installed_comes_with_its_hint() {
        let error = failure(
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-helper, \
             interactiveMode: Never, installHint: 'brew install it'}",
        );
        assert_eq!(
            error.to_string(),
            r#"credential helper "no-such-helper" not found in PATH"#
        );
        let ConfigError::CredentialHelperNotFound { install_hint, .. } = error else {
            panic!("{error:?}");
        };
        assert_eq!(install_hint.as_deref(), Some("brew install it"));
    }

    /// AU-09.
    #[tokio::test]
    async fn a_helper_that_says_nonsense_is_not_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let user = script(directory.path(), "echo '{s3cret'");
        let error = failure(&user);
        assert!(
            matches!(error, ConfigError::Credentials { .. }),
            "{error:?}"
        );
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
}
