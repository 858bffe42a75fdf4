//! `cargo xtask test`: every test that needs nothing but Rust.
mod readme;
mod run;
mod tally;

pub(crate) use run::run;
pub(crate) use tally::Tally;
