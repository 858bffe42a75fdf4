//! The real binary against a simulated API server over TCP.

mod cluster;
mod configuration;
mod counts;
mod interrupts;
mod logs;
mod loops;
mod names;
mod outputs;
mod parallel;
mod passes;
mod permissions;
mod process;
#[cfg(unix)]
mod progress;
mod refusals;
mod rules;
mod servers;
mod timeouts;
mod usage;
