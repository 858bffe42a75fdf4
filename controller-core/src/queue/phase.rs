/// Whether the queue takes keys and hands them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// Takes no more keys, hands out those in line.
    ShuttingDown,
    /// Hands out nothing.
    Halted,
}

/// How far a shutdown has come.
pub(super) struct Progress {
    /// No key is in line or in work, or the queue was halted.
    pub(super) over: bool,
    pub(super) releases: u64,
    pub(super) dropped_delayed: usize,
    pub(super) refused: usize,
    /// Keys in line or in work now or, once halted, at the halt.
    pub(super) left: usize,
    /// Those of them that are, or were, in work.
    pub(super) left_in_work: usize,
}
