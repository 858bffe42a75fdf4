//! Watches that are refused, cut, silent, or say what cannot be.

mod both;
mod consumers;
mod kinds;
mod outages;
mod silence;
mod versions;
