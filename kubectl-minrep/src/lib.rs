//! The kubectl plugin as a library: everything but the process around it.
//!
//! [`cli`] reads the command line, `cmd` does what it asks for through
//! `controller-core`, [`error`] explains what went wrong, and [`out`] is the only part
//! that prints. [`run`] joins them; `main.rs` calls it.

pub mod cli;
mod cmd;
pub mod error;
pub mod out;
mod signal;

use std::ffi::OsString;

use tokio::runtime::Builder;

use crate::cli::{Command, GlobalArgs};
use crate::cmd::Failed;
use crate::error::{Exit, Report};
use crate::out::Io;
use crate::signal::{Asked, Signals};

/// Runs one command line, `argv[0]` included, to its end.
///
/// Takes over SIGINT and SIGTERM: the first asks the command to end, at the second this
/// function returns at once, whatever is still under way.
///
/// Brings a runtime of its own, so it is not for an `async` function to call. The dangerous
/// mistake is to call this twice in a process and to expect two logs: the first call's `-v`
/// and `io` keep the log.
pub fn run(argv: &[OsString], io: &Io) -> Exit {
    let (global, command) = match cli::parse(argv) {
        Ok(parsed) => parsed,
        Err(usage) => return usage.print(io),
    };
    io.set_log_format(global.log_format);
    out::init_log(global.verbosity, global.log_format, io);
    let runtime = match Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            io.talk(Report::error(
                Exit::Internal,
                format_args!("cannot start: {error}"),
            ));
            return Exit::Internal;
        }
    };
    let exit = runtime.block_on(run_parsed(&global, command, io));
    // After a second signal nothing is waited for.
    runtime.shutdown_background();
    exit
}

async fn run_parsed(global: &GlobalArgs, command: Command, io: &Io) -> Exit {
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => {
            io.talk(Report::error(
                Exit::Internal,
                format_args!("cannot listen for signals: {error}"),
            ));
            return Exit::Internal;
        }
    };
    let asked = signals.asked();
    let ended = tokio::select! {
        ended = carry_out(global, command, &asked, io) => ended,
        exit = signals.second() => return exit,
    };
    ended.unwrap_or_else(|failed| {
        let report = failed.into_report().at_verbosity(global.verbosity);
        io.talk(&report);
        report.exit
    })
}

async fn carry_out(
    global: &GlobalArgs,
    command: Command,
    asked: &Asked,
    io: &Io,
) -> Result<Exit, Failed> {
    match command {
        Command::Run(run) => cmd::run(global, run, asked, io).await,
        Command::Once(once) => cmd::reconcile_once(global, once, asked, io).await,
        Command::Version(output) => {
            cmd::version(output, io)?;
            Ok(Exit::Ok)
        }
    }
}
