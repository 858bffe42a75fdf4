//! The progress bar, on a pseudo-terminal.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;
use std::thread::{JoinHandle, spawn};

use insta::assert_snapshot;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::Duration;

use crate::cluster::Cluster;

/// A terminal: what a process writes to, and all that it wrote when it has ended.
fn terminal() -> (Stdio, JoinHandle<String>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
    grantpt(&master).expect("it is ours");
    unlockpt(&master).expect("it is ours");
    let size = Winsize {
        ws_row: 24,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).expect("it has a size");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let name = name.into_string().expect("its name is text");
    let mut options = OpenOptions::new();
    let slave = options.read(true).write(true).open(name);
    let written = spawn(move || {
        let (mut master, mut written) = (File::from(master), Vec::new());
        // Reading ends in an error, and no end of file, when nobody has it open any more.
        drop(master.read_to_end(&mut written));
        String::from_utf8(written).expect("it is text")
    });
    (Stdio::from(slave.expect("it can be opened")), written)
}

/// Six Deployments, one at a time, each of which takes 300 ms.
async fn slow_cluster() -> Cluster {
    let cluster = Cluster::start(SimApiServer::builder()).await;
    for name in ["a", "b", "c", "d", "e", "f"] {
        cluster.deployment("shop", name, 1);
    }
    let slow = Action::DelayAnswer(Duration::from_millis(300));
    cluster
        .server
        .faults()
        .add(Rule::new(slow).verb(Verb::Patch));
    cluster
}

const COMMAND: [&str; 5] = ["reconcile", "once", "-n", "shop", "--workers=1"];

/// What the terminal shows in the end: a carriage return begins the line anew, `[2K` clears it.
fn left(written: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_end_matches('\r');
        let kept = line.rsplit(['\r']).next().unwrap_or_default();
        kept.rsplit("\u{1b}[2K")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    written.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_terminal_shows_how_far_it_is_until_it_is_done() {
    let cluster = slow_cluster().await;
    let (stderr, written) = terminal();
    let minrep = cluster.minrep(&COMMAND).env("TERM", "xterm");
    let ended = minrep.end_with_stderr(stderr).await.with_code(0);
    assert_eq!(ended.stdout.lines().count(), 7, "{ended:?}");
    let written = written.join().expect("the terminal was read");
    assert!(written.contains("/6 Deployments"), "{written:?}");
    let ended = crate::process::Ended {
        stderr: left(&written),
        ..ended
    };
    assert_snapshot!(ended.talk(), @"Reconciled 6 Deployments in TIME: 6 raised, 0 failed, 0 skipped, 0 already satisfied");
}

#[tokio::test]
async fn a_program_that_watches_gets_no_bar() {
    for (name, value) in [("CI", "true"), ("TERM", "dumb")] {
        let cluster = slow_cluster().await;
        let (stderr, written) = terminal();
        let minrep = cluster.minrep(&COMMAND).env(name, value);
        minrep.end_with_stderr(stderr).await.with_code(0);
        let written = written.join().expect("the terminal was read");
        assert!(
            written.starts_with("Reconciled 6 Deployments"),
            "{written:?}"
        );
        assert_eq!(written.lines().count(), 1, "{written:?}");
    }
}

#[tokio::test]
async fn a_pipe_gets_no_bar() {
    let cluster = slow_cluster().await;
    let ended = cluster.minrep(&COMMAND).end().await.with_code(0);
    assert_snapshot!(ended.talk(), @"Reconciled 6 Deployments in TIME: 6 raised, 0 failed, 0 skipped, 0 already satisfied");
}
