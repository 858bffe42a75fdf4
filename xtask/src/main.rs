//! The repository's tasks: `cargo xtask --help`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task talks to a terminal"
)]

mod cargo;
mod control_plane;
mod demo;
mod e2e;
mod fault_script;
mod plugin;
mod process;
mod sim;
mod task;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    match task::Task::parse().run().await {
        Ok(true) => ExitCode::SUCCESS,
        // The task has said what is wrong.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let mut text = format!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                text.push_str(&format!(": {error}"));
                cause = error.source();
            }
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
