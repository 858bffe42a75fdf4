use std::borrow::Cow;

use super::removed::{drop_each, resume};

/// A key on its way in.
///
/// It belongs to the caller of the queue until both copies of it exist. So whatever is not kept
/// is dropped once the lock is released, also if the key panics when it is compared or cloned.
pub(super) struct Incoming<'a, T: Clone> {
    /// `None` once it is kept.
    item: Option<Cow<'a, T>>,
    copy: Option<T>,
}

// === impl Incoming ===

impl<'a, T: Clone> Incoming<'a, T> {
    pub(super) const fn new(item: Cow<'a, T>) -> Self {
        Self {
            item: Some(item),
            copy: None,
        }
    }

    pub(super) fn key(&self) -> &T {
        self.item.as_ref().expect(KEPT)
    }

    /// Hands over the key and a copy of it.
    pub(super) fn keep(&mut self) -> (T, T) {
        let item = self.item.as_mut().expect(KEPT);
        if self.copy.is_none() {
            self.copy = Some(T::clone(item));
        }
        item.to_mut();
        let item = self.item.take().map(Cow::into_owned);
        item.zip(self.copy.take()).expect(KEPT)
    }

    /// Hands over the key unless it would have to be cloned for that.
    pub(super) fn keep_owned(&mut self) -> Option<T> {
        let owned = self.item.take_if(|it| matches!(it, Cow::Owned(_)));
        owned.map(Cow::into_owned)
    }

    /// Takes this one along in place of what was kept.
    pub(super) fn leave_with(&mut self, older: Option<T>) {
        self.copy = older;
    }

    #[cfg(test)]
    pub(super) fn into_left(mut self) -> Option<T> {
        let item = self.item.take().map(Cow::into_owned);
        item.or(self.copy.take())
    }
}

impl<T: Clone> Drop for Incoming<'_, T> {
    fn drop(&mut self) {
        let left = [self.keep_owned(), self.copy.take()];
        if left.iter().any(Option::is_some) {
            resume(drop_each(&mut left.into_iter().flatten()));
        }
    }
}

const KEPT: &str = "invariant: a key is kept once";
