/// The two bands of a work queue.
///
/// A key that an event brought is [`Live`](Band::Live) and overtakes the keys that
/// the first list or a resync brought, which are [`Background`](Band::Background).
///
/// Without bands a start with 10,000 objects makes the first real event wait for 10,000
/// looks, most of which find nothing to do; client-go's queue works so. A key that somebody
/// waits for should not stand behind keys that nobody waits for. The order of the variants
/// is that of urgency.
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
///
/// Implement it to see what a handler enqueues, in a test, or to send keys elsewhere:
///
/// ```
/// use controller_core::handler::{Band, Enqueue};
/// use parking_lot::Mutex;
///
/// #[derive(Default)]
/// struct Enqueued(Mutex<Vec<(String, Band)>>);
///
/// impl Enqueue<String> for Enqueued {
///     fn enqueue(&self, key: String, band: Band) {
///         self.0.lock().push((key, band));
///     }
/// }
/// # let enqueued = Enqueued::default();
/// # enqueued.enqueue("shop/web".into(), Band::Live);
/// # assert_eq!(enqueued.0.lock().len(), 1);
/// ```
pub trait Enqueue<K>: Send + Sync + 'static {
    /// Puts `key` in line, once, in `band`.
    fn enqueue(&self, key: K, band: Band);
}
