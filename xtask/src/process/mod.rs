//! Child processes whose output is read while they run.
mod interrupted;
mod lines;
mod running;

pub(crate) use interrupted::interrupted;
pub(crate) use lines::{Line, Lines};
pub(crate) use running::Running;
