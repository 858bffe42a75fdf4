//! What a real server can be made to do as well.
mod gaps;
mod runs;
mod story;
