use std::process::ExitCode;

/// How the process ends. Scripts rely on these numbers: they never change their meaning.
///
/// 1 means that something differs, as with `kubectl diff`, and never that something broke. 8
/// is kept free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done. Also a dry run that found changes, a `run` that was stopped by a signal and
    /// drained, and a reader that closed the pipe.
    Ok = 0,
    /// More would be changed than `--max-changes` allows, so nothing was.
    TooMany = 1,
    /// A bad flag, flags that do not go together, a bad selector.
    Usage = 2,
    /// No kubeconfig or a broken one, an unknown context, a credential helper that failed.
    Config = 3,
    /// The server was not reached, or not believed: refused, DNS, TLS, proxy.
    Unreachable = 4,
    /// 401 or 403, and nothing could be done.
    Denied = 5,
    /// A Deployment that was named, or the namespace, does not exist.
    NotFound = 6,
    /// Some or all Deployments that needed a change could not be changed.
    Partial = 7,
    /// A request got no answer within `--request-timeout`, or `reconcile once` was not done
    /// within `--timeout`.
    Timeout = 9,
    /// A bug in this program.
    Internal = 70,
    /// Ended by Ctrl-C (SIGINT) before everything was done.
    Interrupted = 130,
    /// Ended by SIGTERM before everything was done.
    Terminated = 143,
}

/// What is said when the program itself is at fault.
pub const BUG: &str = "\
error: internal error, this is a bug in kubectl-minrep

hint: please report it with the lines above and the output of the same command with `-v 8`";

// === impl Exit ===

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
