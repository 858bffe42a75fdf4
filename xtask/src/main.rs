//! The repository's tasks: `cargo xtask --help`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task talks to a terminal"
)]

mod cargo;
mod conformance;
mod control_plane;
mod demo;
mod docker;
mod e2e;
mod fault_script;
mod judge;
mod missing;
mod plugin;
mod process;
mod race;
mod sim;
mod task;
mod test;
mod tidy;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use missing::Missing;

#[tokio::main]
async fn main() -> ExitCode {
    match task::Task::parse().run().await {
        Ok(true) => ExitCode::SUCCESS,
        // The task has said what is wrong.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(error.as_ref()),
    }
}

/// Prints why, and returns the exit code: 2 if the command line or the machine has to be
/// mended first, as clap does.
fn failed(error: &(dyn Error + 'static)) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        eprint!("{usage}");
        return ExitCode::from(2);
    }
    if let Some(missing) = Missing::behind(error) {
        eprintln!("error: {missing}");
        return ExitCode::from(2);
    }
    let mut text = format!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    eprintln!("{text}");
    ExitCode::FAILURE
}
