//! Which files count, and how they are read.
use std::path::{Path, PathBuf};

use controller_core::client::{ConfigError, Environment, Loaded, Loader, Source};
use tempfile::TempDir;

/// A machine of the test's own.
struct Machine {
    directory: TempDir,
    environment: Environment,
}

impl Machine {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            environment: Environment::empty(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        file
    }

    fn variable(&mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) {
        let environment = std::mem::replace(&mut self.environment, Environment::empty());
        self.environment = environment.with_variable(name, value.as_ref());
    }

    fn home(&mut self) {
        let home = self.path("home");
        let environment = std::mem::replace(&mut self.environment, Environment::empty());
        self.environment = environment.with_home(home);
    }

    fn pod(&mut self) {
        self.write("sa/token", "pod-token");
        self.write("sa/namespace", "from-sa\n");
        let directory = self.path("sa");
        let environment = std::mem::replace(&mut self.environment, Environment::empty());
        self.environment = environment.with_service_account(directory);
        self.variable("KUBERNETES_SERVICE_HOST", "10.96.0.1");
        self.variable("KUBERNETES_SERVICE_PORT", "443");
    }

    fn loader(&self) -> Loader {
        let mut loader = Loader::new();
        loader.environment = self.environment.clone();
        loader
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        self.loader().load()
    }
}

/// One context, cluster and user, all of that name.
fn kubeconfig(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {name}\n\
         contexts:\n- name: {name}\n  context: {{cluster: {name}, user: {name}}}\n\
         clusters:\n- name: {name}\n  cluster: {{server: 'https://{name}.example'}}\n\
         users:\n- name: {name}\n  user: {{token: t}}\n"
    )
}

fn list(files: &[&Path]) -> std::ffi::OsString {
    std::env::join_paths(files).unwrap()
}

/// KC-14: the flag's file, else the variable's, else the home's, else the pod.
#[test]
fn places_are_looked_at_in_kubectls_order() {
    let mut machine = Machine::new();
    machine.home();
    machine.pod();
    assert_eq!(machine.load().unwrap().source, Source::InCluster);

    let home = machine.write("home/.kube/config", kubeconfig("home"));
    let loaded = machine.load().unwrap();
    assert_eq!(loaded.server, "https://home.example");
    assert_eq!(loaded.source, Source::Files(vec![home]));

    let a = machine.write("a", kubeconfig("a"));
    let b = machine.write("b", kubeconfig("b"));
    machine.variable("KUBECONFIG", list(&[&a, &b]));
    let loaded = machine.load().unwrap();
    assert_eq!(loaded.server, "https://a.example");
    assert_eq!(loaded.source, Source::Files(vec![a, b.clone()]));

    let mut loader = machine.loader();
    loader.kubeconfig = Some(b.clone());
    let loaded = loader.load().unwrap();
    assert_eq!(loaded.server, "https://b.example");
    assert_eq!(loaded.source, Source::Files(vec![b]));
}

/// KC-01, and not the pod in its place.
#[test]
fn a_file_that_was_asked_for_must_exist() {
    let mut machine = Machine::new();
    machine.pod();
    let mut loader = machine.loader();
    loader.kubeconfig = Some(machine.path("absent"));
    let error = loader.load().unwrap_err();
    assert!(
        matches!(error, ConfigError::MissingFile { .. }),
        "{error:?}"
    );
    loader.kubeconfig = Some(machine.write("empty", ""));
    let error = loader.load().unwrap_err();
    assert!(
        matches!(error, ConfigError::NothingConfigured { .. }),
        "{error:?}"
    );
}

/// KC-04: and the pod is not taken in its place.
#[test]
fn a_file_that_cannot_be_read_is_named() {
    let mut machine = Machine::new();
    machine.pod();
    let garbage = machine.write("garbage", "contexts: [");
    machine.variable("KUBECONFIG", &garbage);
    let error = machine.load().unwrap_err();
    assert!(
        matches!(error, ConfigError::Unparseable { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("garbage"));

    let directory = machine.path("sa");
    machine.variable("KUBECONFIG", &directory);
    let error = machine.load().unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error:?}");
    assert!(error.to_string().ends_with("sa"));
}

/// A parser's error with the lines around it would show tokens.
#[test]
fn a_broken_file_is_not_quoted() {
    let mut machine = Machine::new();
    let text = "users:\n- name: a\n  user: {token: s3cret}\n  : [broken\nclusters: 7\n";
    let file = machine.write("config", text);
    machine.variable("KUBECONFIG", &file);
    let error = machine.load().unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert!(!format!("{error} {error:?} {source}").contains("s3cret"));
}

/// KC-05, KC-13, C-47.
#[test]
fn of_two_entries_with_one_name_the_first_file_wins() {
    let mut machine = Machine::new();
    let first = machine.write("first", kubeconfig("x"));
    let other = kubeconfig("x").replace("x.example", "other.example") + "preferences: {}\n";
    let second = machine.write("second", format!("{other}---\n{}", kubeconfig("y")));
    let absent = machine.path("absent");
    let empty = Path::new("");
    machine.variable(
        "KUBECONFIG",
        list(&[empty, &absent, &first, &second, &first, empty]),
    );
    let loaded = machine.load().unwrap();
    assert_eq!(loaded.server, "https://x.example");
    assert_eq!(loaded.source, Source::Files(vec![first, second]));
    let loaded = machine.loader().context("y").load().unwrap();
    assert_eq!(loaded.server, "https://y.example");
}

/// KC-30: a broken configuration is told, not replaced.
#[test]
fn the_pod_is_used_only_where_nothing_is_configured() {
    let mut machine = Machine::new();
    machine.pod();
    let absent = machine.path("absent");
    machine.variable("KUBECONFIG", &absent);
    assert_eq!(machine.load().unwrap().source, Source::InCluster);
    let empty = machine.write("empty", "apiVersion: v1\nkind: Config\n");
    machine.variable("KUBECONFIG", &empty);
    assert_eq!(machine.load().unwrap().source, Source::InCluster);

    let asked = machine.loader().context("prod").load().unwrap_err();
    assert!(
        matches!(asked, ConfigError::NothingConfigured { .. }),
        "{asked:?}"
    );
    let broken = kubeconfig("x").replace("user: x", "user: nobody");
    let broken = machine.write("broken", broken);
    machine.variable("KUBECONFIG", &broken);
    let error = machine.load().unwrap_err();
    assert!(
        matches!(error, ConfigError::MissingUser { .. }),
        "{error:?}"
    );
    let unselected = kubeconfig("x").replace("current-context: x\n", "");
    let unselected = machine.write("unselected", unselected);
    machine.variable("KUBECONFIG", &unselected);
    let error = machine.load().unwrap_err();
    assert!(
        matches!(error, ConfigError::NoCurrentContext { .. }),
        "{error:?}"
    );
}

/// C-40, C-47: every place is named as it was written.
#[test]
fn nothing_configured_says_where_was_looked() {
    let looked = |machine: &Machine| match machine.load().unwrap_err() {
        ConfigError::NothingConfigured { looked_at } => looked_at
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
        other => panic!("{other:?}"),
    };
    let mut machine = Machine::new();
    assert_eq!(
        looked(&machine),
        "KUBECONFIG (unset), ~/.kube/config (no home directory), \
         in-cluster service account (not in a pod)"
    );
    machine.environment = Environment::empty().with_home("/nonexistent");
    assert_eq!(
        looked(&machine),
        "KUBECONFIG (unset), /nonexistent/.kube/config (missing), \
         in-cluster service account (not in a pod)"
    );
    machine.variable("KUBECONFIG", "~/nope");
    assert_eq!(
        looked(&machine),
        "~/nope (missing: no shell expanded its ~), in-cluster service account (not in a pod)"
    );
}

/// C-20.
#[test]
fn files_saved_on_windows_are_read() {
    let text = kubeconfig("x");
    let crlf = text.replace('\n', "\r\n");
    let marked = format!("\u{FEFF}{crlf}");
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let mut machine = Machine::new();
    for content in [
        crlf.into_bytes(),
        format!("\u{FEFF}{text}").into_bytes(),
        marked.into_bytes(),
        utf16,
        big,
    ] {
        let file = machine.write("config", content);
        machine.variable("KUBECONFIG", &file);
        assert_eq!(machine.load().unwrap().server, "https://x.example");
    }
}

/// C-48.
#[test]
fn repeated_keys_and_bare_numbers_mean_what_is_written() {
    let mut machine = Machine::new();
    let mut server = |text: String| {
        let file = machine.write("config", text);
        machine.variable("KUBECONFIG", &file);
        machine.load().map(|loaded| loaded.server)
    };
    let twice = format!("kind: Config\n{}", kubeconfig("x"));
    assert_eq!(server(twice).unwrap(), "https://x.example");
    let last = format!("current-context: absent\n{}", kubeconfig("x"));
    assert_eq!(server(last).unwrap(), "https://x.example");
    for name in ["100000123456", "y", "0123", "1e3", "true", "0x10"] {
        let server = server(kubeconfig(name)).unwrap();
        assert_eq!(server, format!("https://{name}.example"));
    }
}

/// Whoever wrote it meant one of the two.
#[test]
fn one_name_twice_in_one_file_is_refused() {
    let mut machine = Machine::new();
    let again = "- name: x\n  cluster: {server: 'https://evil.example'}\nusers:";
    let file = machine.write("config", kubeconfig("x").replace("users:", again));
    machine.variable("KUBECONFIG", &file);
    let error = machine.load().unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, r#"cluster "x" is there twice"#);
}

#[test]
fn relative_paths_start_at_the_file_that_they_stand_in() {
    let mut machine = Machine::new();
    machine.write("other/token", "t");
    let with = |user: &str| kubeconfig("x").replace("{token: t}", user);
    let file = machine.write("other/config", with("{tokenFile: token}"));
    machine.variable("KUBECONFIG", &file);
    let loaded = machine.load().unwrap();
    let expected = machine.path("other/token");
    let token_file = loaded.config.auth_info.token_file;
    assert_eq!(token_file.as_deref(), expected.to_str());

    let exec = |command: &str| {
        with(&format!(
            "{{exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: {command}}}}}"
        ))
    };
    for (command, expected) in [
        ("./bin/login", Some(machine.path("other/./bin/login"))),
        ("login", None),
    ] {
        machine.write("other/config", exec(command));
        let loaded = machine.load().unwrap();
        let found = loaded.config.auth_info.exec.unwrap().command.unwrap();
        match expected {
            Some(path) => assert_eq!(Path::new(&found), path),
            None => assert_eq!(found, command),
        }
    }
}
