//! What the selected context means, and what is wrong with it.
use std::path::PathBuf;

use controller_core::client::{ConfigError, Environment, Loaded, Loader, Source};
use tempfile::TempDir;

use crate::server::{Authority, data};

fn write(directory: &TempDir, name: &str, content: &str) -> PathBuf {
    let file = directory.path().join(name);
    std::fs::write(&file, content).unwrap();
    file
}

/// A loader of one file with one context `c`.
fn loader(directory: &TempDir, context: &str, cluster: &str, user: &str) -> Loader {
    let text = format!(
        "current-context: c\n\
         contexts: [{{name: c, context: {{{context}}}}}, {{name: other, context: {{cluster: k, user: ana, namespace: shop}}}}]\n\
         clusters: [{{name: k, cluster: {{{cluster}}}}}, {{name: broken, cluster: {{certificate-authority: /absent}}}}]\n\
         users: [{{name: ana, user: {{{user}}}}}, {{name: broken, user: {{client-certificate: /absent}}}}]\n"
    );
    let mut loader = Loader::new();
    loader.environment = Environment::empty();
    loader.kubeconfig = Some(write(directory, "config", &text));
    loader
}

const CONTEXT: &str = "cluster: k, user: ana";
const CLUSTER: &str = "server: 'https://k.example'";

fn load(context: &str, cluster: &str, user: &str) -> Result<Loaded, ConfigError> {
    loader(&tempfile::tempdir().unwrap(), context, cluster, user).load()
}

/// The message, with the file's changing directory taken out.
fn refusal(context: &str, cluster: &str, user: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let error = loader(&directory, context, cluster, user)
        .load()
        .unwrap_err();
    let path = directory.path().display().to_string();
    error.to_string().replace(&path, "DIR")
}

/// KC-25.
#[test]
fn a_context_that_does_not_exist_comes_with_those_that_do() {
    let directory = tempfile::tempdir().unwrap();
    let loader = loader(&directory, CONTEXT, CLUSTER, "").context("prdo");
    let error = loader.load().unwrap_err();
    let file = directory.path().join("config");
    assert_eq!(
        error.to_string(),
        format!(r#"context "prdo" does not exist in {}"#, file.display())
    );
    let ConfigError::UnknownContext { known, files, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(known, ["c", "other"]);
    assert_eq!(files, [file]);
}

/// KC-33: the broken cluster and user beside it do not matter.
#[test]
fn only_the_selected_context_is_checked() {
    let loaded = load(CONTEXT, CLUSTER, "token: t").unwrap();
    assert_eq!(loaded.context.as_deref(), Some("c"));
    assert_eq!(loaded.cluster.as_deref(), Some("k"));
    assert_eq!(loaded.user.as_deref(), Some("ana"));
    assert_eq!(loaded.server, "https://k.example");
    assert!(!loaded.config.default_retry);
}

/// KC-33.
#[test]
fn what_the_context_names_must_be_there_and_make_sense() {
    let exec = |rest: &str| format!("exec: {{command: login, {rest}}}");
    let v1 = "apiVersion: client.authentication.k8s.io/v1";
    let pem = "client-certificate-data: eA==";
    let rows = [
        ("cluster: gone, user: ana", CLUSTER, ""),
        ("cluster: k, user: gone", CLUSTER, ""),
        ("cluster: k", CLUSTER, ""),
        (CONTEXT, "", ""),
        (CONTEXT, "server: 'ftp://k'", ""),
        (CONTEXT, "server: 'https://user:s3cret@k'", ""),
        (
            CONTEXT,
            "server: 'https://k', certificate-authority: ca.crt",
            "",
        ),
        (
            CONTEXT,
            "server: 'https://k', certificate-authority-data: eA==",
            "",
        ),
        (
            CONTEXT,
            "server: 'https://k', certificate-authority-data: '%'",
            "",
        ),
        (
            CONTEXT,
            "server: 'https://k', certificate-authority: a, certificate-authority-data: eA==",
            "",
        ),
        (CONTEXT, CLUSTER, "token: t, username: u, password: p"),
        (CONTEXT, CLUSTER, "as-groups: [dev]"),
        (CONTEXT, CLUSTER, pem),
        (CONTEXT, CLUSTER, "client-certificate: cert.pem"),
        (
            CONTEXT,
            CLUSTER,
            "client-certificate: a, client-certificate-data: eA==",
        ),
        (CONTEXT, CLUSTER, &exec("")),
        (CONTEXT, CLUSTER, &exec(v1)),
        (
            CONTEXT,
            CLUSTER,
            &exec("apiVersion: client.authentication.k8s.io/v1alpha1"),
        ),
        (
            CONTEXT,
            CLUSTER,
            &format!("exec: {{{v1}, interactiveMode: Never}}"),
        ),
        (
            CONTEXT,
            CLUSTER,
            &exec(&format!(
                "{v1}, interactiveMode: Never, env: [{{value: x}}]"
            )),
        ),
        (
            CONTEXT,
            CLUSTER,
            &format!(
                "{}, auth-provider: {{name: oidc}}",
                exec(&format!("{v1}, interactiveMode: Never"))
            ),
        ),
        ("cluster: k, user: ana, namespace: Shop", CLUSTER, ""),
    ]
    .map(|(context, cluster, user)| refusal(context, cluster, user));
    insta::assert_snapshot!(rows.join("\n"), @r#"
    cluster "gone" of context "c" does not exist in DIR/config
    user "gone" of context "c" does not exist in DIR/config
    user "" of context "c" does not exist in DIR/config
    the server "" of cluster "k" is no address: it names no host
    the server "ftp://k" of cluster "k" is no address: its scheme "ftp" is neither http nor https
    the server "https://...@k" of cluster "k" is no address: it must not hold a user name or password
    certificate-authority of cluster "k" cannot be used: cannot read DIR/ca.crt: No such file or directory (os error 2)
    certificate-authority of cluster "k" cannot be used: it holds no PEM certificate
    certificate-authority of cluster "k" cannot be used: its data is not base64
    certificate-authority of cluster "k" cannot be used: certificate-authority-data is set too
    user "ana" cannot be used: it has more than one way to authenticate: token, username and password
    user "ana" cannot be used: it impersonates a uid, groups or extra fields without a user (`as`)
    client-certificate of user "ana" cannot be used: it holds no PEM certificate
    client-certificate of user "ana" cannot be used: cannot read DIR/cert.pem: No such file or directory (os error 2)
    client-certificate of user "ana" cannot be used: client-certificate-data is set too
    user "ana" cannot be used: its `exec` has no apiVersion
    user "ana" cannot be used: its `exec` has no interactiveMode
    user "ana" cannot be used: its `exec` has apiVersion "client.authentication.k8s.io/v1alpha1"; client.authentication.k8s.io/v1 and v1beta1 are understood
    user "ana" cannot be used: its `exec` has no command
    user "ana" cannot be used: its `exec` sets a variable without a name
    user "ana" cannot be used: it has both `exec` and `auth-provider`
    "Shop" is no namespace: must be at most 63 lower-case letters, digits or '-', and begin and end with a letter or digit
    "#);
}

#[test]
fn fields_that_are_there_and_empty_are_not_set() {
    let user = "token: t, username: '', password: '', client-certificate: '', tokenFile: ''";
    let cluster = "server: 'https://k', certificate-authority: '', proxy-url: ''";
    let loaded = load(CONTEXT, cluster, user).unwrap();
    assert_eq!(loaded.config.root_cert, None);
    assert_eq!(loaded.config.proxy_url, None);
}

/// KC-16: a certificate authority that would be ignored was put there for a reason.
#[test]
fn an_authority_beside_skipped_verification_is_a_contradiction() {
    let authority = data(&Authority::new().pem);
    let cluster = format!(
        "server: 'https://k', insecure-skip-tls-verify: true, certificate-authority-data: {authority}"
    );
    assert_eq!(
        refusal(CONTEXT, &cluster, ""),
        r#"cluster "k" cannot be used: it has both a certificate-authority and insecure-skip-tls-verify"#
    );
}

/// KC-20, KC-28, KC-31.
#[test]
fn the_namespace_is_the_asked_else_the_contexts_else_the_default() {
    let directory = tempfile::tempdir().unwrap();
    let mut loader = loader(&directory, CONTEXT, CLUSTER, "");
    let namespace = |loader: &Loader| {
        let loaded = loader.load().unwrap();
        assert_eq!(loaded.config.default_namespace, loaded.namespace);
        (loaded.namespace, loaded.namespace_explicit)
    };
    assert_eq!(namespace(&loader), ("default".into(), false));
    loader.context = Some("other".into());
    assert_eq!(namespace(&loader), ("shop".into(), false));
    loader.namespace = Some("ns/web".into());
    assert_eq!(namespace(&loader), ("web".into(), true));
    loader.namespace = Some("default".into());
    assert_eq!(namespace(&loader), ("default".into(), true));
    loader.namespace = Some(String::new());
    assert_eq!(namespace(&loader), ("shop".into(), false));
}

/// A pod: its service account in a directory, its variables as the kubelet sets them.
fn pod(directory: &TempDir, host: &str) -> Environment {
    write(directory, "token", "t");
    write(directory, "namespace", "from-sa");
    write(directory, "ca.crt", &Authority::new().pem);
    Environment::empty()
        .with_service_account(directory.path())
        .with_variable("KUBERNETES_SERVICE_HOST", host)
        .with_variable("KUBERNETES_SERVICE_PORT", "6443")
}

/// C-46.
#[test]
fn a_pod_finds_its_server_whatever_the_address_family() {
    for (host, server) in [
        ("10.96.0.1", "https://10.96.0.1:6443"),
        ("::1", "https://[::1]:6443"),
        (
            "kubernetes.default.svc",
            "https://kubernetes.default.svc:6443",
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut loader = Loader::new();
        loader.environment = pod(&directory, host);
        let loaded = loader.load().unwrap();
        assert_eq!(loaded.server, server);
        assert_eq!(loaded.source, Source::InCluster);
        assert_eq!((loaded.context, loaded.user), (None, None));
        assert_eq!(loaded.config.root_cert.unwrap().len(), 1);
    }
}

/// KC-31.
#[test]
fn a_pods_namespace_is_its_variable_else_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut loader = Loader::new();
    loader.environment = pod(&directory, "10.96.0.1");
    assert_eq!(loader.load().unwrap().namespace, "from-sa");
    loader.environment = loader
        .environment
        .with_variable("POD_NAMESPACE", "from-pod");
    assert_eq!(loader.load().unwrap().namespace, "from-pod");
    loader.namespace = Some("asked".into());
    assert_eq!(loader.load().unwrap().namespace, "asked");
}

/// Half a pod is none: a shell that has the variables only.
#[test]
fn a_pod_needs_both_variables_and_a_token() {
    let directory = tempfile::tempdir().unwrap();
    let mut loader = Loader::new();
    loader.environment = pod(&directory, "");
    let error = loader.load().unwrap_err();
    assert!(
        matches!(error, ConfigError::NothingConfigured { .. }),
        "{error:?}"
    );
    loader.environment = pod(&directory, "10.96.0.1");
    std::fs::remove_file(directory.path().join("token")).unwrap();
    let error = loader.load().unwrap_err();
    assert!(
        matches!(error, ConfigError::NothingConfigured { .. }),
        "{error:?}"
    );
}

#[test]
fn a_proxy_of_the_environment_reaches_a_pod_too() {
    let directory = tempfile::tempdir().unwrap();
    let mut loader = Loader::new();
    loader.environment = pod(&directory, "10.96.0.1").with_variable("HTTPS_PROXY", "http://p:3128");
    let proxy = loader.load().unwrap().config.proxy_url;
    assert_eq!(proxy.unwrap(), "http://p:3128/");
    loader.environment = loader.environment.with_variable("NO_PROXY", "10.0.0.0/8");
    assert_eq!(loader.load().unwrap().config.proxy_url, None);
}
