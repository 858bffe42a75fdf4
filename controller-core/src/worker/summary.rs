/// What the calls of a pool came to, from its start to its end.
///
/// Every call is counted once, under how it ended; a key that was tried five times is five
/// calls. Keys that no worker came to are in
/// [`Drained::abandoned`](crate::queue::Drained::abandoned) instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolSummary {
    /// Calls that succeeded.
    pub reconciled: u64,
    /// Calls that failed, those that ran into the reconcile deadline included.
    pub failed: u64,
    /// Calls that panicked, in the reconciler or in a layer. They do not count as failed.
    pub panicked: u64,
    /// Calls that were cut off because the queue was halted.
    pub cancelled: u64,
}
