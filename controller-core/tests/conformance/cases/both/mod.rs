//! What a real server can be made to do, too.

mod gaps;
mod reports;
mod writes;
