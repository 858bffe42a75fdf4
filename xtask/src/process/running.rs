use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Lines;

/// A child process. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    lines: Arc<Lines>,
    /// Read stdout and stderr to their ends.
    readers: JoinSet<()>,
}

// === impl Running ===

impl Running {
    /// Starts `command` in a process group of its own: Ctrl-C is for this program, which
    /// then ends the child. `each` is told every line of stdout and stderr as it comes.
    pub(crate) fn start(
        mut command: Command,
        each: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let lines = Arc::new(Lines::default());
        let mut readers = JoinSet::new();
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            let lines = Arc::clone(&lines);
            readers.spawn(async move {
                tokio::join!(read(stdout, &lines, &each), read(stderr, &lines, &each));
                lines.end();
            });
        }
        Ok(Self {
            child,
            lines,
            readers,
        })
    }

    /// What it has written so far.
    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// How much CPU time it has used so far. Only on Linux: it is read from `/proc`.
    pub(crate) fn cpu_time(&self) -> io::Result<Duration> {
        let pid = self.child.id().ok_or(io::ErrorKind::NotFound)?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let odd = || io::Error::other("an odd line in /proc");
        // The command's name may hold anything; the 14th and the 15th field count ticks.
        let (_, fields) = stat.rsplit_once(") ").ok_or_else(odd)?;
        let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<_, _>>().map_err(|_| odd())?;
        Ok(Duration::from_millis(
            ticks * 1000 / rustix::param::clock_ticks_per_second(),
        ))
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) -> io::Result<()> {
        let pid = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()));
        match pid {
            Some(pid) => Ok(kill_process(pid, Signal::TERM)?),
            None => Ok(()),
        }
    }

    /// Waits for its end and for the rest of its output, and kills it after `within`.
    pub(crate) async fn ended(mut self, within: Duration) -> io::Result<ExitStatus> {
        let status = match timeout(within, self.child.wait()).await {
            Ok(status) => status?,
            Err(_) => {
                self.child.kill().await?;
                let seconds = within.as_secs();
                return Err(io::Error::other(format!("still ran after {seconds} s")));
            }
        };
        while self.readers.join_next().await.is_some() {}
        Ok(status)
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) async fn stop(self, within: Duration) -> io::Result<ExitStatus> {
        self.terminate()?;
        self.ended(within).await
    }
}

async fn read(stream: impl AsyncRead + Unpin, lines: &Lines, each: &impl Fn(&str)) {
    let mut reader = BufReader::new(stream).lines();
    // What is no text, or cannot be read, ends the log and not the process.
    while let Ok(Some(line)) = reader.next_line().await {
        each(&line);
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Running {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Running::start(command, |_| {}).unwrap()
    }

    #[tokio::test]
    async fn both_streams_are_read_and_the_end_is_seen() {
        let running = shell("echo out; echo err >&2; exit 3");
        for word in ["out", "err"] {
            let line = running
                .lines()
                .wait_for(word, 0, BOUND, |text| text == word)
                .await;
            assert_eq!(line.unwrap().text, word);
        }
        let never = running
            .lines()
            .wait_for("more", 0, BOUND, |text| text == "more")
            .await;
        assert_eq!(never.unwrap_err(), "the process ended before more");
        assert_eq!(running.ended(BOUND).await.unwrap().code(), Some(3));
    }

    #[tokio::test]
    async fn a_process_is_asked_to_end() {
        let running =
            shell("trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.01; done");
        running
            .lines()
            .wait_for("up", 0, BOUND, |text| text == "up")
            .await
            .unwrap();
        assert!(running.stop(BOUND).await.unwrap().success());
    }
}
