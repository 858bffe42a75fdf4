use std::hash::Hash;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hashbrown::HashMap;
use parking_lot::Mutex;

use crate::queue::removed::{drop_each, resume};

/// How often each key failed since it was last forgotten.
///
/// Nearly every key of a healthy controller is forgotten without having failed. While
/// nothing fails that costs one load: no lock that all workers share, no hash.
pub(super) struct Failures<T> {
    counts: Mutex<HashMap<T, u32>>,
    /// The length of `counts`, written under its lock.
    ///
    /// `Relaxed` is enough for one who reads it without: whoever knows that a key failed
    /// was told by the one who counted it, so it sees this number or a newer one, and none
    /// of these is zero before the key is forgotten.
    failing: AtomicUsize,
}

/// An empty map of more than this gives its memory back: an outage of everything is rare.
const KEPT: usize = 1024;

// === impl Failures ===

impl<T> Failures<T> {
    pub(super) fn new() -> Self {
        Self {
            counts: Mutex::new(HashMap::new()),
            failing: AtomicUsize::new(0),
        }
    }

    /// How many keys have failed.
    pub(super) fn failing(&self) -> usize {
        self.failing.load(Relaxed)
    }
}

impl<T> Drop for Failures<T> {
    /// The queue, which goes at the same time, has a copy of the key that panics here.
    fn drop(&mut self) {
        let counts = mem::take(self.counts.get_mut());
        resume(drop_each(&mut counts.into_keys()));
    }
}

impl<T: Clone + Eq + Hash> Failures<T> {
    /// Counts a failure, and says how many there were before it.
    pub(super) fn count(&self, item: &T) -> u32 {
        let mut counts = self.counts.lock();
        let count = counts.entry_ref(item).or_insert(0);
        let before = *count;
        *count = before.saturating_add(1);
        self.failing.store(counts.len(), Relaxed);
        before
    }

    pub(super) fn of(&self, item: &T) -> u32 {
        if self.failing() == 0 {
            return 0;
        }
        self.counts.lock().get(item).copied().unwrap_or(0)
    }

    pub(super) fn forget(&self, item: &T) {
        if self.failing() == 0 {
            return;
        }
        let mut counts = self.counts.lock();
        let forgotten = counts.remove_entry(item);
        self.failing.store(counts.len(), Relaxed);
        if counts.is_empty() && counts.capacity() > KEPT {
            counts.shrink_to_fit();
        }
        // The drop of a key is its owner's code, which may come back here.
        drop(counts);
        drop(forgotten);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use super::*;

    /// Whoever asks for its hash has looked further than it should.
    #[derive(Clone, PartialEq, Eq)]
    struct Unhashable;

    impl Hash for Unhashable {
        fn hash<H: Hasher>(&self, _: &mut H) {
            panic!("hashed");
        }
    }

    #[test]
    fn a_key_is_not_even_hashed_while_nothing_fails() {
        let failures = Failures::new();
        failures.forget(&Unhashable);
        assert_eq!(failures.of(&Unhashable), 0);
    }

    #[test]
    fn each_key_is_counted_until_it_is_forgotten() {
        let failures = Failures::new();
        assert_eq!(["a", "a", "b"].map(|key| failures.count(&key)), [0, 1, 0]);
        assert_eq!(["a", "b", "c"].map(|key| failures.of(&key)), [2, 1, 0]);
        assert_eq!(failures.failing(), 2);
        failures.forget(&"a");
        failures.forget(&"a");
        failures.forget(&"c");
        assert_eq!(["a", "b"].map(|key| failures.of(&key)), [0, 1]);
        assert_eq!(failures.failing(), 1);
        failures.forget(&"b");
        assert_eq!(failures.failing(), 0);
        assert_eq!(failures.count(&"b"), 0);
    }

    #[test]
    fn memory_is_given_back_when_many_keys_have_recovered() {
        let failures = Failures::new();
        (0..10_000).for_each(|key| _ = failures.count(&key));
        (0..9_999).for_each(|key| failures.forget(&key));
        assert!(failures.counts.lock().capacity() > KEPT);
        failures.forget(&9_999);
        assert_eq!(failures.counts.lock().capacity(), 0);
    }
}
