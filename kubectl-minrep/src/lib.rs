//! The kubectl plugin as a library: everything but the process around it.
//!
//! [`cli`] reads the command line, [`cmd`] does what it asks for through
//! `controller-core`, [`error`] explains what went wrong, and [`out`] is the only part
//! that prints. [`run`] joins them; `main.rs` and the tests call it.

pub mod cli;
pub mod cmd;
pub mod error;
pub mod out;
mod signal;

use std::ffi::OsString;

use crate::cli::Command;
use crate::error::Exit;
use crate::out::Io;

/// Runs one command line, `argv[0]` included, to its end.
///
/// The dangerous mistake is to call this twice in a process and to expect two logs: the
/// first call's `-v` and `io` keep the log.
pub async fn run(argv: Vec<OsString>, io: &Io) -> Exit {
    let (global, command) = match cli::parse(argv) {
        Ok(parsed) => parsed,
        Err(usage) => return usage.print(io),
    };
    out::init_log(global.verbosity, io);
    match command {
        Command::Version(output) => match cmd::version(output, io) {
            Ok(()) => Exit::Ok,
            Err(_) => Exit::Internal,
        },
        Command::Run(_) | Command::Once(_) => Exit::Internal,
    }
}
