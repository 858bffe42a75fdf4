//! The real binary against a simulated API server over TCP.

mod cluster;
mod configuration;
mod interrupts;
mod loops;
mod names;
mod passes;
mod permissions;
mod process;
mod refusals;
mod rules;
mod servers;
mod usage;
