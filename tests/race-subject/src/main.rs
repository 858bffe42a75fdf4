//! controller-core, as it takes part in `cargo xtask race`.
//!
//! `race-subject describe` says what it is. `race-subject queue CASE` runs one case of the
//! race of the queues and prints its sample, one line of JSON, on stdout. What a case is
//! stands in `tests/peers/README.md`, for this program and for its peers: whoever changes a
//! case changes it in all of them.
//!
//! A crate of its own and no example of `controller-core`: an example is built with what the
//! tests need, among it a tokio whose clock can be paused, and that clock is slower.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the sample goes to stdout, and what went wrong to stderr"
)]

mod measure;
mod queue;
mod resident;

use std::error::Error;
use std::process::ExitCode;
use std::thread::available_parallelism;

use serde::Serialize;

/// Who this is.
#[derive(Serialize)]
struct Description {
    subject: &'static str,
    version: &'static str,
}

/// What was measured in one case.
#[derive(Serialize)]
struct Sample<'a> {
    case: &'a str,
    unit: &'static str,
    value: f64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match answer(&arguments) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    match arguments {
        ["describe"] => Ok(serde_json::to_string(&Description {
            subject: "controller-core",
            version: env!("CARGO_PKG_VERSION"),
        })?),
        ["queue", case] => {
            // As a controller's `main` makes it: one thread a core.
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(available_parallelism()?.get())
                .enable_time()
                .build()?;
            let (unit, value) = runtime.block_on(queue::run(case))?;
            Ok(serde_json::to_string(&Sample { case, unit, value })?)
        }
        _ => Err("usage: race-subject describe | race-subject queue CASE".into()),
    }
}
