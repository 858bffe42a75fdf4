//! Cases → answers of both servers → differences.
//!
//! `cargo xtask judge sim` sends the same requests to the simulated and to the real API
//! server and compares what comes back. The requests are data, `cases/*.http`, a file a
//! topic; [`script`] describes their form. What may differ is in `cases/kept.yaml`, with
//! the reason for each. Anything else that differs is a failure, and so is an entry there
//! that no longer matches anything.
//!
//! The real server has no controllers and no node here: what these do is no matter of the
//! API server, and `cargo xtask e2e` compares it.

mod answer;
mod compare;
mod fixtures;
mod glob;
mod kept;
mod lines;
mod media;
mod normalise;
mod play;
mod real;
mod report;
mod round;
mod run;
mod script;
mod side;
mod simulated;
mod symbols;
mod template;

pub(crate) use run::{Command, run};
