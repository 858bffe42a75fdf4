//! History → lines of a watch.
//!
//! A watch keeps a position in its kind's history and reads on at its client's pace. One that falls too far
//! behind is closed, as the real server closes one whose buffer is full; its client starts again from the last
//! resourceVersion that it saw.

mod session;

pub(crate) use session::{WatchRequest, WatchSession, WatchStart};
