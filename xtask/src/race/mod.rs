//! Contest → table, and `target/race/NAME.json`.
//!
//! A contest is some cases and some subjects, ours and its peers. A subject is a program:
//!
//! - `PROGRAM describe` prints `{"subject": "client-go", "version": "v0.36.1"}`;
//! - `PROGRAM RACE CASE` prints `{"case": "2p2w", "unit": "keys/s", "value": 584821.7}`, one
//!   line, and nothing else on stdout.
//!
//! What a case is stands in `tests/peers/README.md`. A new race is a `Contest` in a file of
//! its own, and an arm in each of its subjects.
mod build;
mod command;
mod contest;
mod machine;
mod queue;
mod report;
mod rounds;
mod stats;
mod subject;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use command::{Command, run};
