use std::io;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::*;

fn told(error: &ConfigError) -> String {
    let report = explain_config(error, false).at_verbosity(0);
    assert_eq!(report.exit, Exit::Config);
    report.to_string()
}

fn files() -> Vec<PathBuf> {
    vec![PathBuf::from("/home/ana/.kube/config")]
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn unknown_context() {
    let unknown = |context: &str, known: &[&str]| {
        told(&ConfigError::UnknownContext {
            context: context.into(),
            files: files(),
            known: names(known),
        })
    };
    assert_snapshot!(unknown("prdo", &["dev", "prod", "staging"]), @r#"
    error: context "prdo" does not exist in /home/ana/.kube/config

    hint: did you mean "prod"? known contexts: dev, prod, staging
    "#);
    assert_snapshot!(unknown("live", &["dev", "prod"]), @r#"
    error: context "live" does not exist in /home/ana/.kube/config

    hint: known contexts: dev, prod
    "#);
    assert_snapshot!(unknown("live", &[]), @r#"
    error: context "live" does not exist in /home/ana/.kube/config

    hint: there are no contexts
    "#);
    let many: Vec<String> = (0..12).map(|n| format!("c{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_snapshot!(unknown("live", &many), @r#"
    error: context "live" does not exist in /home/ana/.kube/config

    hint: known contexts: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more (`kubectl config get-contexts`)
    "#);
}

#[test]
fn no_context_selected() {
    let text = told(&ConfigError::NoCurrentContext {
        files: files(),
        known: names(&["dev", "prod"]),
    });
    assert_snapshot!(text, @r"
    error: no context is selected in /home/ana/.kube/config

    hint: pass `--context NAME`, or choose one with `kubectl config use-context NAME`
    hint: known contexts: dev, prod
    ");
}

#[test]
fn missing_file() {
    let missing = |file: &str, unexpanded_tilde| {
        told(&ConfigError::MissingFile {
            file: file.into(),
            unexpanded_tilde,
        })
    };
    assert_snapshot!(missing("/tmp/nope", false), @r"
    error: the kubeconfig file /tmp/nope does not exist

    hint: `--kubeconfig` takes one file, KUBECONFIG a list
    ");
    assert_snapshot!(missing("~/nope", true), @r"
    error: the kubeconfig file ~/nope does not exist

    hint: the shell did not expand `~`: write it as `$HOME`
    ");
}

#[test]
fn unreadable_files() {
    let text = told(&ConfigError::Unreadable {
        file: "/home/ana/.kube/config".into(),
        source: io::Error::from(io::ErrorKind::PermissionDenied),
    });
    assert_snapshot!(text, @"error: cannot read the kubeconfig file /home/ana/.kube/config: permission denied");
    let text = told(&ConfigError::Unparseable {
        file: "/home/ana/.kube/config".into(),
        source: "line 3: did not find expected key".into(),
    });
    assert_snapshot!(text, @r"
    error: cannot parse the kubeconfig file /home/ana/.kube/config: line 3: did not find expected key

    hint: `kubectl config view` reads the same file
    ");
}

#[test]
fn dangling_names() {
    let text = told(&ConfigError::MissingCluster {
        context: "prod".into(),
        cluster: "prod-eu".into(),
        files: files(),
    });
    assert_snapshot!(text, @r#"
    error: cluster "prod-eu" of context "prod" does not exist in /home/ana/.kube/config

    hint: `kubectl config view` shows what there is
    "#);
}

#[test]
fn a_namespace_that_was_typed_is_a_usage_mistake() {
    let error = ConfigError::BadNamespace {
        namespace: "Shop!".into(),
        problem: "lower case letters, digits and '-' only",
    };
    let typed = explain_config(&error, true);
    assert_eq!(typed.exit, Exit::Usage);
    assert_snapshot!(typed, @r#"error: "Shop!" is no namespace: lower case letters, digits and '-' only"#);
    assert_eq!(explain_config(&error, false).exit, Exit::Config);
}

#[test]
fn credential_helper_not_found() {
    let missing = |install_hint: Option<&str>| {
        told(&ConfigError::CredentialHelperNotFound {
            command: "gke-gcloud-auth-plugin".into(),
            user: "ana-sso".into(),
            install_hint: install_hint.map(str::to_owned),
        })
    };
    assert_snapshot!(missing(None), @r#"
    error: credential helper "gke-gcloud-auth-plugin" not found in PATH

    hint: user "ana-sso" needs it to log in: install it, or add its directory to PATH
    "#);
    assert_snapshot!(missing(Some("Install it from\n  https://example.com/auth\n")), @r#"
    error: credential helper "gke-gcloud-auth-plugin" not found in PATH

    Install it from
      https://example.com/auth
    "#);
}

#[test]
fn credential_helper_failed() {
    let failed = |command: &str, exit_code, stderr: &str| {
        told(&ConfigError::CredentialHelperFailed {
            command: command.into(),
            user: "prod-admin".into(),
            exit_code,
            stderr: stderr.into(),
        })
    };
    let expired = "Error when retrieving token from sso: Token has expired\x1b[0m\n\nagain\n";
    assert_snapshot!(failed("/usr/bin/aws", Some(255), expired), @r#"
    error: credential helper "/usr/bin/aws" for user "prod-admin" failed with exit code 255

      aws: Error when retrieving token from sso: Token has expired^[[0m
      aws: again
    hint: run the login command of that tool (for aws: `aws sso login`), then try again
    "#);
    assert_snapshot!(failed("own-helper", None, ""), @r#"
    error: credential helper "own-helper" for user "prod-admin" failed

    hint: run the login command of that tool, then try again
    "#);
}
