//! min-replicas: what it decides, what it says, and what it writes.
mod bed;
mod fixture;

mod decisions;
mod guarded_writes;
mod observing;
mod projections;
mod refusals;
mod sentences;
mod targets;
mod writer;
