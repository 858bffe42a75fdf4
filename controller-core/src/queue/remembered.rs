//! Keys that have left are remembered for as long as the queue is busy.
//!
//! As a rule they come again, and then nothing has to be cloned, put into the table and taken
//! out of it: half of what a passage costs. A queue that has caught up keeps none of them, so
//! that no key outlives its work for long.
use std::borrow::Cow;

use super::{Entries, Id, KeyHash, State};

/// Keys that are remembered no more, to be dropped once the lock is released.
pub(in super::super) struct Gone<T> {
    items: Vec<T>,
    entries: Option<Entries<T>>,
}

/// Room for so many keys an empty queue keeps: less than a megabyte.
const KEPT: usize = 16 * 1024;

/// So many are no reason to look through them, if the queue is to grow.
const FEW: usize = 64;

// === impl State ===

impl<T> State<T> {
    /// What is to be dropped once the lock is released.
    pub(in super::super) const fn gone(&mut self) -> Option<Box<Gone<T>>> {
        self.gone.take()
    }

    /// Makes an entry for a key that has none. The caller gives it its place.
    ///
    /// A queue that never catches up does not grow with each key that it has seen: it forgets
    /// those that have left once they are more than half of all.
    pub(super) fn insert(&mut self, hash: KeyHash, item: T) -> Id {
        let full = self.entries.len() == self.entries.capacity();
        if full && self.remembered.len() > FEW.max(self.entries.len() / 2) {
            self.forget_one_by_one();
        }
        self.entries.insert(hash, item)
    }

    /// The work on the key is over. Gives it back if it is not remembered.
    pub(super) fn leave(&mut self, id: Id) -> Option<T> {
        if self.is_caught_up() {
            return Some(self.entries.remove(id));
        }
        self.remembered.push(&mut self.entries, id);
        None
    }

    /// To be called where a key leaves.
    pub(super) fn forget_if_caught_up(&mut self) {
        if self.is_caught_up() {
            self.forget();
        }
    }

    fn is_caught_up(&self) -> bool {
        self.len() == 0 && self.works.is_empty()
    }

    /// What a burst took is given back, for a first list of a million keys must not be paid for
    /// until the process ends.
    pub(super) fn forget(&mut self) {
        let nothing_else = self.entries.len() == self.remembered.len();
        if nothing_else && self.entries.capacity() > KEPT {
            self.forget_at_once();
        } else if self.remembered.len() > 0 {
            self.forget_one_by_one();
        }
    }

    #[cold]
    fn forget_at_once(&mut self) {
        self.remembered.clear();
        let entries = std::mem::replace(&mut self.entries, Entries::new());
        self.gone_mut().entries = Some(entries);
    }

    #[cold]
    fn forget_one_by_one(&mut self) {
        let mut items = Vec::with_capacity(self.remembered.len());
        while let Some(id) = self.remembered.first() {
            self.remembered.unlink(&mut self.entries, id);
            items.push(self.entries.remove(id));
        }
        self.gone_mut().items.append(&mut items);
    }

    fn gone_mut(&mut self) -> &mut Gone<T> {
        self.gone.get_or_insert_with(|| {
            Box::new(Gone {
                items: Vec::new(),
                entries: None,
            })
        })
    }
}

impl<T: Clone> State<T> {
    /// A remembered key is back. The caller gives it its place. Gives back one of the two equal
    /// keys: the older one, unless the newer one would have to be cloned.
    pub(super) fn recall<'a>(&mut self, id: Id, item: Cow<'a, T>) -> Cow<'a, T> {
        self.remembered.unlink(&mut self.entries, id);
        match item {
            Cow::Borrowed(_) => item,
            Cow::Owned(newer) => Cow::Owned(self.entries.replace(id, newer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Band, Clock, Policy, WorkId};
    use super::*;

    const KEPT_AND_MORE: usize = KEPT + 1;

    type Keys = std::ops::Range<usize>;

    fn clock() -> Clock {
        Clock::at(1)
    }

    fn add(state: &mut State<usize>, keys: Keys) {
        for key in keys {
            let hash = key as KeyHash;
            state.add(hash, Cow::Owned(key), Some(Band::Live), &mut clock());
        }
    }

    fn take(state: &mut State<usize>) -> (usize, WorkId) {
        let taken = state.take(&mut clock()).expect("a key is in line");
        (taken.item, taken.work)
    }

    /// Serves as many keys.
    fn serve(state: &mut State<usize>, keys: Keys) {
        for key in keys {
            let (item, work) = take(state);
            assert_eq!(item, key);
            state.done(work, &mut clock());
        }
    }

    fn delay(state: &mut State<usize>, key: usize) {
        let (hash, delay) = (key as KeyHash, Duration::from_secs(60));
        let policy = Policy::Earliest;
        state.add_after(hash, Cow::Owned(key), delay, policy, &mut clock());
    }

    fn items_gone(state: &mut State<usize>) -> usize {
        state.gone().map_or(0, |it| it.items.len())
    }

    #[test]
    fn a_key_is_remembered_while_others_are_in_line_or_in_work() {
        let mut state = State::new();
        add(&mut state, 0..3);
        serve(&mut state, 0..1);
        assert_eq!(state.entries.len(), 3, "1 and 2 are in line");
        let (_, first) = take(&mut state);
        let (_, second) = take(&mut state);
        state.done(first, &mut clock());
        assert_eq!(state.entries.len(), 3, "2 is in work");
        assert!(state.gone().is_none());
        assert_eq!(state.done(second, &mut clock()), Some(2));
        assert_eq!(state.entries.len(), 0);
        assert_eq!(items_gone(&mut state), 2);
    }

    /// What waits for its time may do so for hours.
    #[test]
    fn delayed_keys_keep_none_remembered() {
        let mut state = State::new();
        delay(&mut state, 7);
        add(&mut state, 0..2);
        serve(&mut state, 0..2);
        assert_eq!(state.entries.len(), 1);
        assert_eq!(state.depth().delayed, 1);
    }

    #[test]
    fn a_key_whose_work_ends_in_a_delay_lets_the_others_go() {
        let mut state = State::new();
        add(&mut state, 0..2);
        serve(&mut state, 0..1);
        let (_, work) = take(&mut state);
        let retry = Duration::from_secs(1);
        state.again(work, retry, &mut clock());
        assert_eq!(state.done(work, &mut clock()), None);
        assert_eq!((state.entries.len(), items_gone(&mut state)), (1, 1));
    }

    #[test]
    fn a_remembered_key_comes_back_as_a_new_one() {
        let mut state = State::new();
        state.add(0, Cow::Owned(0), Some(Band::Background), &mut clock());
        add(&mut state, 1..3);
        serve(&mut state, 1..3);
        serve(&mut state, 0..1);

        add(&mut state, 5..7);
        serve(&mut state, 5..6);
        let (live, delayed) = (5, 0);
        state.add(live, Cow::Owned(5), None, &mut clock());
        delay(&mut state, delayed);
        assert!(!state.cancel(9, &9, &mut clock()).0);
        let depth = state.depth();
        assert_eq!((depth.live, depth.background, depth.delayed), (2, 0, 1));
        assert_eq!(state.counts.adds, 6);
        serve(&mut state, 6..7);
        serve(&mut state, 5..6);
    }

    /// It left: there is nothing to be cancelled.
    #[test]
    fn a_remembered_key_has_no_delay() {
        let mut state = State::new();
        add(&mut state, 0..2);
        serve(&mut state, 0..1);
        assert_eq!(state.cancel(0, &0, &mut clock()), (false, None));
        assert_eq!(state.entries.len(), 2);
    }

    #[test]
    fn a_remembered_key_that_is_delayed_is_remembered_no_more() {
        let mut state = State::new();
        add(&mut state, 0..2);
        serve(&mut state, 0..1);
        delay(&mut state, 0);
        assert_eq!(state.remembered.len(), 0);
        assert!(state.cancel(0, &0, &mut clock()).0);
        assert_eq!(state.entries.len(), 1);
    }

    #[test]
    fn the_memory_of_a_burst_is_given_back_with_its_last_key() {
        let mut state = State::new();
        add(&mut state, 0..KEPT_AND_MORE);
        serve(&mut state, 0..KEPT);
        assert!(state.gone().is_none());
        serve(&mut state, KEPT..KEPT_AND_MORE);
        assert_eq!(state.entries.capacity(), 0);
        let gone = state.gone().and_then(|it| it.entries);
        assert_eq!(gone.map(|it| it.len()), Some(KEPT));
        add(&mut state, 0..2);
        serve(&mut state, 0..2);
    }

    #[test]
    fn the_memory_of_a_burst_of_delays_is_given_back_when_they_are_cancelled() {
        let mut state = State::new();
        (0..KEPT_AND_MORE).for_each(|key| delay(&mut state, key));
        (0..KEPT_AND_MORE).for_each(|key| {
            assert!(state.cancel(key as KeyHash, &key, &mut clock()).0);
        });
        assert_eq!(state.entries.capacity(), 0);
    }

    #[test]
    fn room_for_a_few_keys_is_kept() {
        let mut state = State::new();
        add(&mut state, 0..KEPT / 2);
        serve(&mut state, 0..KEPT / 2);
        assert!(state.entries.capacity() >= KEPT / 2);
        assert_eq!(state.entries.len(), 0);
    }

    /// There is always a key in line, and each time another one.
    #[test]
    fn a_queue_that_never_catches_up_does_not_grow_for_ever() {
        let mut state = State::new();
        add(&mut state, 0..1);
        for key in 0..100 * FEW {
            add(&mut state, key + 1..key + 2);
            serve(&mut state, key..key + 1);
            state.gone();
            assert!(state.entries.capacity() <= 4 * FEW, "{key}");
        }
    }

    #[test]
    fn the_end_forgets_what_has_left() {
        let mut state = State::new();
        add(&mut state, 0..3);
        serve(&mut state, 0..2);
        state.shut_down(&mut clock());
        assert_eq!((state.entries.len(), items_gone(&mut state)), (1, 2));
    }

    /// Of two equal keys that is worked on which was handed over last, if it was.
    #[test]
    fn a_key_that_is_back_is_the_newer_one() {
        #[derive(Clone, Debug)]
        struct Versioned(u8, u8);
        impl PartialEq for Versioned {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }
        impl Eq for Versioned {}

        let newer = Versioned(1, 2);
        for (item, expected) in [(Cow::Owned(newer.clone()), 2), (Cow::Borrowed(&newer), 1)] {
            let mut state = State::new();
            for key in [Versioned(1, 1), Versioned(2, 1)] {
                state.add(7, Cow::Owned(key), None, &mut clock());
            }
            let first = state.take(&mut clock()).unwrap();
            state.done(first.work, &mut clock());
            let given_back = state.add(7, item, None, &mut clock()).unwrap();
            assert_eq!(given_back.1, 3 - expected);
            state.take(&mut clock());
            assert_eq!(state.take(&mut clock()).unwrap().item.1, expected);
        }
    }
}
