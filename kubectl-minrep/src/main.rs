//! `kubectl-minrep`: the process around the library.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use kubectl_minrep::error::{BUG, Exit};
use kubectl_minrep::out::{Io, tell_panics};

fn main() -> ExitCode {
    let io = Io::process();
    tell_panics(&io);
    let argv: Vec<OsString> = std::env::args_os().collect();
    match catch_unwind(AssertUnwindSafe(|| kubectl_minrep::run(&argv, &io))) {
        Ok(exit) => exit.into(),
        // The panic's own message is on stderr already.
        Err(_) => {
            io.talk(BUG);
            Exit::Internal.into()
        }
    }
}
