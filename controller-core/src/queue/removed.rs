use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use super::entries::Entries;

/// Both copies of a key that the queue does not know any more, to be dropped once the lock is
/// released: what the drop of a key does is not known.
///
/// One is dropped also if the other one panics, and what was a panic of both is one.
pub(super) struct Removed<T> {
    item: Option<T>,
    copy: Option<T>,
}

/// Keys that are remembered no more, to be dropped once the lock is released.
///
/// They are not those of the caller in whose passage they are dropped, so it does not hear of
/// one that panics then.
pub(super) struct Gone<T> {
    pub(super) removed: Vec<Removed<T>>,
    pub(super) entries: Entries<T>,
}

// === impl Removed ===

impl<T> Removed<T> {
    pub(super) fn new(item: T, copy: Option<T>) -> Self {
        Self {
            item: Some(item),
            copy,
        }
    }

    /// One of the two.
    pub(super) fn key(&self) -> Option<&T> {
        self.item.as_ref().or(self.copy.as_ref())
    }
}

impl<T> Iterator for Removed<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.copy.take().or_else(|| self.item.take())
    }
}

impl<T> Drop for Removed<T> {
    fn drop(&mut self) {
        resume(drop_each(self));
    }
}

// === impl Gone ===

impl<T> Drop for Gone<T> {
    fn drop(&mut self) {
        let removed = self.removed.drain(..).flatten();
        let mut keys = removed.chain(self.entries.take_keys());
        if let Some(payload) = drop_each(&mut keys) {
            tracing::error!("a key panicked when it was dropped");
            // It may panic just so.
            mem::forget(payload);
        }
    }
}

/// Goes on with a panic that came of a drop, unless one is under way: two at once would end the
/// process.
pub(super) fn resume(panic: Option<Box<dyn Any + Send>>) {
    match panic {
        None => {}
        Some(payload) if thread::panicking() => mem::forget(payload),
        Some(payload) => resume_unwind(payload),
    }
}

/// Drops all, also those after one that panics. Gives back what the first one panicked with.
pub(super) fn drop_each<T>(keys: &mut impl Iterator<Item = T>) -> Option<Box<dyn Any + Send>> {
    let mut first = None;
    while let Err(payload) = catch_unwind(AssertUnwindSafe(|| keys.for_each(drop))) {
        match first {
            None => first = Some(payload),
            Some(_) => mem::forget(payload),
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    /// Counts how often it is dropped, and panics then if it is told to.
    struct Counted(Rc<Cell<usize>>, bool);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            assert!(!self.1, "on purpose");
        }
    }

    fn pair(dropped: &Rc<Cell<usize>>, panics: [bool; 2]) -> [Counted; 2] {
        panics.map(|panics| Counted(Rc::clone(dropped), panics))
    }

    /// Two in one list would end the process, and its caller has nothing to do with them.
    #[test]
    fn keys_that_panic_when_they_are_dropped_harm_nobody() {
        let dropped = Rc::default();
        let pair = |panics| pair(&dropped, panics);
        let removed = [[true; 2], [false; 2], [false, true], [true, false]];
        let removed = removed.map(|panics| {
            let [item, copy] = pair(panics);
            Removed::new(item, Some(copy))
        });
        let mut entries = Entries::new();
        for panics in [[true; 2], [false; 2]] {
            let [item, copy] = pair(panics);
            entries.insert(7, item, Some(copy));
        }
        let removed = Vec::from(removed);
        drop(Gone { removed, entries });
        assert_eq!(dropped.get(), 12);
    }

    #[test]
    fn both_copies_are_dropped_and_their_panics_are_one() {
        for panics in [[true; 2], [false, true], [true, false]] {
            let dropped = Rc::default();
            let [item, copy] = pair(&dropped, panics);
            let removed = Removed::new(item, Some(copy));
            let told = catch_unwind(AssertUnwindSafe(|| drop(removed)));
            assert_eq!(told.unwrap_err().downcast_ref(), Some(&"on purpose"));
            assert_eq!(dropped.get(), 2);
        }
    }

    #[test]
    fn a_panic_that_is_under_way_is_the_only_one() {
        let dropped = Rc::default();
        let [item, copy] = pair(&dropped, [true; 2]);
        let told = catch_unwind(AssertUnwindSafe(|| {
            let _removed = Removed::new(item, Some(copy));
            panic!("first");
        }));
        assert_eq!(told.unwrap_err().downcast_ref(), Some(&"first"));
        assert_eq!(dropped.get(), 2);
    }
}
