use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{PanicHookInfo, set_hook, take_hook};

use super::Io;
use super::log::event;
use crate::cli::LogFormat;

/// From now on a panic, in whatever thread, is told in the form of all other talk: where the
/// log is JSON as one line of it, else as ever.
///
/// For the whole process, so for `main` alone.
pub fn tell_panics(io: &Io) {
    let (io, as_ever) = (io.clone(), take_hook());
    set_hook(Box::new(move |panic| match io.log_format() {
        LogFormat::Text => as_ever(panic),
        // Failing to talk fails no command, and a panic within a panic would abort it.
        LogFormat::Json => drop(io.stderr().write_line(event("ERROR", &sentence(panic)))),
    }));
}

/// What the standard library says of a panic, but for the hint at `RUST_BACKTRACE`.
fn sentence(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let sentence = format!("thread {:?} {panic}", thread.name().unwrap_or("<unnamed>"));
    // Taken only where `RUST_BACKTRACE` asks for it.
    let backtrace = Backtrace::capture();
    match backtrace.status() {
        BacktraceStatus::Captured => format!("{sentence}\nstack backtrace:\n{backtrace}"),
        _ => sentence,
    }
}
