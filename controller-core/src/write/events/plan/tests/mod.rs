//! The rules, without a server and without a clock.
mod bounds;
mod laws;
mod retries;
mod script;
mod series;
