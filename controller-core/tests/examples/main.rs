//! The examples do what they say. They are the same code as `cargo run --example` runs.

mod follow;
mod limit;
mod listen;
mod queue_up;
