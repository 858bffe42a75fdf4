//! What is known → text. The only folder that prints.
//!
//! stdout is data, stderr is talk: what a script reads comes from [`Io::data`], all else
//! from [`Io::talk`] and the log. Text that comes from a cluster is escaped here, so that
//! a name or a message cannot move the cursor, forge a line or recolour a terminal.
mod banner;
mod bar;
mod counted;
mod document;
mod escape;
mod failures;
mod io;
mod log;
mod names;
mod panics;
mod pass;
#[cfg(test)]
mod sample;
mod show_pass;
mod stderr;
mod summary;
mod table;

pub use banner::run_banner;
pub use bar::while_drawing;
pub use escape::{escape_line, escape_text};
pub use io::{Buffer, Captured, Io};
pub use log::init_log;
pub use panics::tell_panics;
pub use pass::{Counts, Pass};
pub use show_pass::show_pass;
pub use summary::{run_summary, unwritten_events};
