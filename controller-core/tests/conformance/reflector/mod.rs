//! What a reflector asks for, and what it makes of the answers.

mod both;
mod events;
mod memory;
mod names;
mod pages;
mod resync;
mod rounds;
mod tables;
mod torn;
mod waits;
