use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};

use tokio::time::Instant;

use super::readme;
use super::tally::Tally;
use crate::cargo::{cargo, has_subcommand};

/// Runs everything, also after a failure, and ends with `N passed, N failed`.
/// `Ok(true)`: none failed.
pub(crate) fn run() -> io::Result<bool> {
    let mut total = Tally::default();
    total += step("tests", tests())?;
    total += step("examples in the documentation", doc_tests())?;
    println!("== commands of README.md");
    total += readme::check()?;
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(total.failed == 0)
}

fn tests() -> Command {
    let mut command = cargo();
    if has_subcommand("nextest") {
        command.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
    } else {
        command.args(["test", "--workspace", "--all-targets", "--no-fail-fast"]);
    }
    command
}

fn doc_tests() -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    command
}

/// Runs one test command, showing its output, and counts what it reports. A command that
/// fails without a failed test (it did not build) counts as one failure.
fn step(title: &str, mut command: Command) -> io::Result<Tally> {
    println!("== {title}");
    let start = Instant::now();
    // nextest reports on stderr, libtest on stdout: one pipe keeps their order.
    let (reader, writer) = io::pipe()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    // The command holds the pipe's other ends until it is dropped.
    drop(command);
    let mut tally = Tally::default();
    for line in BufReader::new(reader).lines() {
        let line = line?;
        println!("{line}");
        if let Some(counted) = Tally::of_line(&line) {
            tally += counted;
        }
    }
    let status = child.wait()?;
    if !status.success() && tally.failed == 0 {
        println!("{title}: {status}");
        tally.failed = 1;
    }
    println!("== {title}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(tally)
}
