//! How fast the simulated server is, and how much memory it takes.
//!
//! `cargo run --release -p sim-apiserver --example measure`, or with the names of some parts behind `--`:
//! `start`, `fill`, `watch`, `sockets`.
#![expect(clippy::print_stdout, reason = "it is a report for a person")]
#![expect(
    clippy::unwrap_used,
    reason = "a measurement ends at its first surprise"
)]

mod fill;
mod start;
mod usage;
mod watch;

use tokio::{runtime::Builder, task::JoinSet};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    println!("{cores} cores, {profile} build");
    if wants("start") {
        runtime().block_on(start::measure());
    }
    if wants("fill") {
        fill::measure();
    }
    for (part, over) in [
        ("watch", watch::Over::Memory),
        ("sockets", watch::Over::Sockets),
    ] {
        if wants(part) {
            // In a task: what wakes the watches is then where a request's handler would be.
            runtime().block_on(async {
                let mut task = JoinSet::new();
                task.spawn(watch::measure(over));
                task.join_all().await;
            });
        }
    }
}

/// As many threads as there are cores, as a test of several threads has.
fn runtime() -> tokio::runtime::Runtime {
    Builder::new_multi_thread().enable_all().build().unwrap()
}
