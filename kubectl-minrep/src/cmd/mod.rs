//! [`Command`](crate::cli::Command) → [`Exit`](crate::error::Exit): what each command does.
mod connect;
mod failed;
mod reconcile_once;
mod run;
mod version;

pub(crate) use failed::Failed;
pub(crate) use reconcile_once::reconcile_once;
pub(crate) use run::run;
pub(crate) use version::version;
