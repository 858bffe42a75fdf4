/// The two bands of a work queue.
///
/// A key that an event brought is [`Live`](Band::Live) and overtakes the keys that
/// the first list or a resync brought, which are [`Background`](Band::Background).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Band {
    /// Something happened to the object just now.
    Live,
    /// The first list or a resync: nothing happened, the object is only looked at again.
    Background,
}

/// Where a handler puts the keys of the objects that want a look.
///
/// Stage 3 owns this trait so that handlers need not know the queue, which is stage 4
/// and implements it. `enqueue` never blocks and never fails: a queue that is shutting
/// down ignores the key.
pub trait Enqueue<K>: Send + Sync + 'static {
    /// Puts `key` in line, once, in `band`.
    fn enqueue(&self, key: K, band: Band);
}
