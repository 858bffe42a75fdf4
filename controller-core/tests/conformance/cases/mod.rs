//! What people who run clusters reported, and what a cache must not get wrong over a gap.

mod both;
mod controller;
mod gap;
mod reports;
mod versions;
