//! `kubectl-minrep`: the process around the library.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use kubectl_minrep::error::Exit;
use kubectl_minrep::out::Io;

fn main() -> ExitCode {
    let io = Io::process();
    let argv: Vec<OsString> = std::env::args_os().collect();
    let run = || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| io.talk(format_args!("error: cannot start: {error}")))
            .ok()?;
        let exit = runtime.block_on(kubectl_minrep::run(&argv, &io));
        // After a second signal nothing is waited for.
        runtime.shutdown_background();
        Some(exit)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(exit) => exit.unwrap_or(Exit::Internal).into(),
        // The panic's own message is on stderr already.
        Err(_) => {
            io.talk(kubectl_minrep::error::BUG);
            Exit::Internal.into()
        }
    }
}
