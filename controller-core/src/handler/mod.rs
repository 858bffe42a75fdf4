//! [`Delta`](crate::store::Delta) → keys.
mod enqueue;

pub use enqueue::{Band, Enqueue};
