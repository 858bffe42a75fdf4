use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A stand-in for the binary, which writes down what it is asked to do and
/// goes on with `script`. `$dir` is the instance's directory.
struct Fake {
    home: tempfile::TempDir,
    options: Options,
}

impl Fake {
    fn new(script: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("instance");
        fs::create_dir(&dir).unwrap();
        let path = home.path().join("control-plane");
        let text = format!(
            "#!/bin/sh\ndir={}\necho \"$1\" >> $dir.calls\n[ \"$1\" = up ] || exit 0\n{script}\n",
            dir.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let options = Options {
            dir: Some(dir),
            ..Options::default()
        };
        Self { home, options }
    }

    fn start(&self) -> Result<ControlPlane, InstanceError> {
        let binary = Binary::at(&self.home.path().join("control-plane"));
        ControlPlane::start(&binary, &self.options)
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.home.path().join("instance.calls")).unwrap()
    }
}

#[test]
fn an_instance_always_hangs_on_the_lifeline() {
    assert_eq!(
        arguments(&Options::default(), Path::new("d")),
        ["up", "--lifeline", "--dir", "d"]
    );
}

#[test]
fn every_option_is_passed_on() {
    let options = Options {
        api_only: true,
        dir: None,
        logs: Some("l".into()),
        audit_log: Some("a".into()),
    };
    assert_eq!(
        arguments(&options, Path::new("d"))[4..],
        ["--api-only", "--logs", "l", "--audit-log", "a"]
    );
}

#[test]
fn the_first_line_is_the_kubeconfig() {
    let fake = Fake::new("echo /some/where/kubeconfig; cat; exit 0");
    let instance = fake.start().unwrap();
    assert_eq!(instance.kubeconfig(), Path::new("/some/where/kubeconfig"));
    instance.stop().unwrap();
}

#[test]
fn stopping_closes_stdin_and_waits() {
    let fake = Fake::new("echo k; cat; echo stopped >> $dir.calls");
    fake.start().unwrap().stop().unwrap();
    assert_eq!(fake.calls(), "up\nstopped\n");
}

#[test]
fn dropping_stops_as_well() {
    let fake = Fake::new("echo k; cat; echo stopped >> $dir.calls");
    drop(fake.start().unwrap());
    assert_eq!(fake.calls(), "up\nstopped\n");
}

/// The directory belongs to the instance that already runs there.
#[test]
fn a_refused_start_touches_no_other_instance() {
    let fake = Fake::new("exit 1");
    let error = fake.start().unwrap_err();
    assert!(matches!(error, InstanceError::NotReady(_)), "{error}");
    assert_eq!(fake.calls(), "up\n");
}

#[test]
fn a_killed_instance_is_cleaned_up_after() {
    let fake = Fake::new("echo k; kill -9 $$");
    let error = fake.start().unwrap().stop().unwrap_err();
    assert!(matches!(error, InstanceError::Ended(_)), "{error}");
    assert_eq!(fake.calls(), "up\ndown\n");
}

#[test]
fn a_binary_that_is_missing_is_named() {
    let options = Options {
        dir: Some("/nowhere".into()),
        ..Options::default()
    };
    let binary = Binary::at(Path::new("/no/such/binary"));
    let error = ControlPlane::start(&binary, &options).unwrap_err();
    assert_eq!(error.to_string(), "cannot run /no/such/binary");
}
