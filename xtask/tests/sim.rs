//! `cargo xtask sim` as a process.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn sim(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .arg("sim")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The first line of its output, and the rest that is read to its end.
fn first_line(child: &mut Child) -> (String, impl Read + use<>) {
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    (line, output)
}

#[test]
fn a_filled_server_says_where_it_is_and_leaves_nothing_behind_at_sigterm() {
    let mut child = sim(&["--objects", "7"]).spawn().unwrap();
    let (line, mut rest) = first_line(&mut child);
    let kubeconfig = line.strip_prefix("export KUBECONFIG=").unwrap().trim_end();
    let kubeconfig = Path::new(kubeconfig);
    let text = std::fs::read_to_string(kubeconfig).unwrap();
    assert!(text.contains("server: http://127.0.0.1:"), "{text}");

    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut more = String::new();
    rest.read_to_string(&mut more).unwrap();
    assert_eq!(more, "", "stdout is for the shell");
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(told.contains("filled with 7 Deployments in "), "{told}");
    assert!(!kubeconfig.parent().unwrap().exists());
}

#[test]
fn a_bad_fault_script_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("faults.yaml");
    std::fs::write(&script, "rules:\n  - match: {verb: list}\n    doo: hang\n").unwrap();
    let output = sim(&["--faults", script.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    let told = told.replace(script.to_str().unwrap(), "faults.yaml");
    insta::assert_snapshot!(told, @"error: cannot use the fault script faults.yaml: line 3, column 5: unknown field `doo`, expected one of name, match, attempts, per_object, window, do");
}
