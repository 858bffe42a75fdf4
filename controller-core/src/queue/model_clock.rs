//! The clock of loom's models, which stands still until it is advanced.
pub use super::sync::{advance, reset};
