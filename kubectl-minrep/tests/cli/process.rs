//! A `kubectl-minrep` process.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine; a test that meets it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command line that is not started yet. It knows nothing of the machine: no variables,
/// no home.
pub(crate) struct Minrep(Command);

/// What a process left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A process that is running. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// Read so far.
    said: String,
}

// === impl Minrep ===

impl Minrep {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-minrep"));
        command
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Self(command)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.0.env(name, value.as_ref());
        self
    }

    pub(crate) fn start(mut self) -> Running {
        let mut child = self.0.spawn().expect("the binary starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        Running {
            child,
            stderr: BufReader::new(stderr),
            said: String::new(),
        }
    }

    /// Runs it to its end.
    pub(crate) async fn end(self) -> Ended {
        self.start().end().await
    }

    /// The same, with another stderr: what is written there is the caller's to read.
    pub(crate) async fn end_with_stderr(mut self, stderr: Stdio) -> Ended {
        let child = self.0.stderr(stderr).spawn().expect("the binary starts");
        // It holds stderr open, so that whoever reads there would wait for ever.
        drop(self);
        let output = timeout(PATIENCE, child.wait_with_output()).await;
        let output = output
            .expect("it ends in time")
            .expect("its output is read");
        Ended {
            code: code(output.status),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::new(),
        }
    }
}

// === impl Running ===

impl Running {
    /// Waits until a line of stderr holds `text`.
    pub(crate) async fn says(&mut self, text: &str) {
        let until = async {
            loop {
                let mut line = String::new();
                let read = self
                    .stderr
                    .read_line(&mut line)
                    .await
                    .expect("stderr is text");
                assert_ne!(read, 0, "ended without saying {text:?}: {}", self.said);
                self.said.push_str(&line);
                if line.contains(text) {
                    return;
                }
            }
        };
        timeout(PATIENCE, until).await.expect("it says so in time");
    }

    /// `INT` or `TERM`.
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it is running");
        // A shell has `kill` built in, wherever there is a shell.
        let sent = Command::new("/bin/sh")
            .args(["-c", &format!("kill -{name} {pid}")])
            .status()
            .await
            .expect("there is a shell");
        assert!(sent.success());
    }

    /// Closes stdout, as `head` does when it has read enough.
    pub(crate) fn close_stdout(&mut self) {
        drop(self.child.stdout.take());
    }

    pub(crate) async fn end(mut self) -> Ended {
        let mut stdout = String::new();
        let pipe = self.child.stdout.take();
        let read_stdout = async {
            if let Some(mut pipe) = pipe {
                pipe.read_to_string(&mut stdout)
                    .await
                    .expect("stdout is text");
            }
        };
        let read_stderr = self.stderr.read_to_string(&mut self.said);
        let all = async { tokio::join!(read_stdout, read_stderr, self.child.wait()) };
        let ((), stderr, status) = timeout(PATIENCE, all).await.expect("it ends in time");
        stderr.expect("stderr is text");
        Ended {
            code: code(status.expect("its status is known")),
            stdout,
            stderr: self.said,
        }
    }
}

/// An exit code only; a process that a signal killed has none.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| panic!("killed: {status}"))
}

// === impl Ended ===

impl Ended {
    /// Checks the code, and shows everything if it is another.
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// stderr without what differs from run to run: ports, times.
    pub(crate) fn talk(&self) -> String {
        let mut text = String::new();
        for line in self.stderr.lines() {
            text.push_str(&steady(line));
            text.push('\n');
        }
        text
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// `127.0.0.1:34567` → `127.0.0.1:PORT`, `in 0.1s` → `in TIME`.
fn steady(line: &str) -> String {
    let mut line = line.to_owned();
    for (before, after) in [
        ("127.0.0.1:", "PORT"),
        (" in ", "TIME"),
        ("Stopped after ", "TIME"),
    ] {
        let Some(start) = line.find(before).map(|at| at + before.len()) else {
            continue;
        };
        let rest = &line[start..];
        let varies = |c: char| c.is_ascii_digit() || (after == "TIME" && ".smh".contains(c));
        let end = rest.find(|c| !varies(c)).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            line.replace_range(start..start + end, after);
        }
    }
    line
}
