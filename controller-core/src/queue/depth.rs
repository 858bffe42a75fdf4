/// How many keys are where, counted at one instant.
///
/// Read off the queue itself rather than counted up and down, so it cannot drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// In line, because something happened to the object.
    pub live: usize,
    /// In line, because the object is to be looked at again.
    pub background: usize,
    /// Waiting for a deadline. A key in work whose delay has been asked for already
    /// counts as in work.
    pub delayed: usize,
    /// In the hands of a worker.
    pub in_work: usize,
}
