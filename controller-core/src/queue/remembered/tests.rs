use std::borrow::Cow;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::super::{Band, Clock, Policy, Taken};
use super::*;

const KEPT_AND_MORE: usize = KEPT + 1;

type Keys = std::ops::Range<usize>;

fn owned<T: Clone>(key: T) -> Incoming<'static, T> {
    Incoming::new(Cow::Owned(key))
}

fn clock() -> Clock {
    Clock::at(1)
}

fn add(state: &mut State<usize>, keys: Keys) {
    for key in keys {
        let hash = key as KeyHash;
        state.add(hash, &mut owned(key), Some(Band::Live), &mut clock());
    }
}

fn take<T>(state: &mut State<T>) -> Taken<T> {
    state.take(&mut clock()).expect("a key is in line")
}

fn done<T>(state: &mut State<T>, taken: Taken<T>) -> Option<T> {
    let removed = state.done(taken.work, taken.item, &mut clock());
    removed.and_then(|mut it| it.next())
}

/// Serves as many keys.
fn serve(state: &mut State<usize>, keys: Keys) {
    for key in keys {
        let taken = take(state);
        assert_eq!(taken.item, key);
        done(state, taken);
    }
}

fn delay(state: &mut State<usize>, key: usize) {
    let (hash, delay) = (key as KeyHash, Duration::from_secs(60));
    let policy = Policy::Earliest;
    state.add_after(hash, &mut owned(key), delay, policy, &mut clock());
}

fn items_gone(state: &mut State<usize>) -> usize {
    state.gone().map_or(0, |it| it.removed.len())
}

#[test]
fn a_key_is_remembered_while_others_are_in_line_or_in_work() {
    let mut state = State::new();
    add(&mut state, 0..3);
    serve(&mut state, 0..1);
    assert_eq!(state.entries.len(), 3, "1 and 2 are in line");
    let [first, second] = [take(&mut state), take(&mut state)];
    done(&mut state, first);
    assert_eq!(state.entries.len(), 3, "2 is in work");
    assert!(state.gone().is_none());
    assert_eq!(done(&mut state, second), Some(2));
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
    let taken = take(&mut state);
    let retry = Duration::from_secs(1);
    state.again(taken.work, retry, &mut clock());
    assert_eq!(done(&mut state, taken), None);
    assert_eq!((state.entries.len(), items_gone(&mut state)), (1, 1));
}

#[test]
fn a_remembered_key_comes_back_as_a_new_one() {
    let mut state = State::new();
    state.add(0, &mut owned(0), Some(Band::Background), &mut clock());
    add(&mut state, 1..3);
    serve(&mut state, 1..3);
    serve(&mut state, 0..1);

    add(&mut state, 5..7);
    serve(&mut state, 5..6);
    let (live, delayed) = (5, 0);
    state.add(live, &mut owned(5), None, &mut clock());
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
    let (cancelled, removed) = state.cancel(0, &0, &mut clock());
    assert!(!cancelled && removed.is_none());
    assert_eq!(state.entries.len(), 2);
}

#[test]
fn a_remembered_key_that_is_delayed_is_not_forgotten_before_its_time() {
    let mut state = State::new();
    add(&mut state, 0..2);
    serve(&mut state, 0..1);
    delay(&mut state, 0);
    assert_eq!(state.remembered.len, 0);
    serve(&mut state, 1..2);
    assert_eq!((state.entries.len(), state.depth().delayed), (1, 1));
    state.check_remembered();
}

/// It leaves as one does whose work is over.
#[test]
fn a_key_whose_delay_is_cancelled_is_remembered_while_others_are_there() {
    let mut state = State::new();
    add(&mut state, 0..1);
    delay(&mut state, 1);
    assert!(state.cancel(1, &1, &mut clock()).0);
    assert_eq!((state.entries.len(), state.remembered.len), (2, 1));
    serve(&mut state, 0..1);
    assert_eq!((state.entries.len(), items_gone(&mut state)), (0, 1));
}

#[test]
fn a_key_that_comes_and_goes_is_on_the_list_once() {
    let mut state = State::new();
    add(&mut state, 0..2);
    for _ in 0..9 {
        serve(&mut state, 0..1);
        add(&mut state, 0..1);
        serve(&mut state, 1..2);
        add(&mut state, 1..2);
        assert_eq!(state.remembered.len, 0);
        assert_eq!(state.remembered.ids, [0, 1]);
        state.check_remembered();
    }
}

/// Nobody waits for a look at a hundred thousand keys because one has to go.
#[test]
fn keys_that_are_on_the_list_for_nothing_are_passed_over_a_few_at_a_time() {
    let mut state = State::new();
    let back = 4 * LOOKS;
    add(&mut state, 0..9 * LOOKS);
    serve(&mut state, 0..8 * LOOKS);
    (0..back).for_each(|key| delay(&mut state, key));
    let listed = state.remembered.ids.len();
    for looks in 1..=4 {
        state.forget_some();
        assert_eq!(items_gone(&mut state), 0);
        assert_eq!(state.remembered.ids.len(), listed - looks * LOOKS);
    }
    state.forget_some();
    assert_eq!(items_gone(&mut state), LOOKS);
    state.check_remembered();
}

#[test]
fn the_memory_of_a_burst_is_given_back_with_its_last_key() {
    let mut state = State::new();
    add(&mut state, 0..KEPT_AND_MORE);
    serve(&mut state, 0..KEPT);
    assert!(state.gone().is_none());
    serve(&mut state, KEPT..KEPT_AND_MORE);
    assert_eq!(state.entries.capacity(), 0);
    assert_eq!(state.gone().map(|it| it.entries.len()), Some(KEPT));
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
    assert!(state.entries.capacity() <= KEPT);
}

#[test]
fn room_for_a_few_keys_is_kept() {
    let mut state = State::new();
    add(&mut state, 0..KEPT / 2);
    serve(&mut state, 0..KEPT / 2);
    assert!(state.entries.capacity() >= KEPT / 2);
    assert_eq!(state.entries.len(), 0);
}

/// A controller always has a few that are to be looked at again in an hour.
#[test]
fn the_memory_of_a_burst_is_given_back_beside_delayed_keys() {
    let mut state = State::new();
    (0..9).for_each(|key| delay(&mut state, key));
    add(&mut state, 9..9 + KEPT_AND_MORE);
    (5..8).for_each(|key| assert!(state.cancel(key as KeyHash, &key, &mut clock()).0));
    serve(&mut state, 9..9 + KEPT_AND_MORE);
    assert!(state.entries.capacity() <= 8);
    let hour = Duration::from_secs(3600).as_nanos() as u64;
    let mut clock = Clock::at(1 + hour);
    state.promote(&mut clock);
    assert_eq!(state.len(), 6);
    serve(&mut state, 0..5);
    serve(&mut state, 8..9);
    assert_eq!((state.entries.len(), state.deadlines.len()), (0, 0));
}

/// There is always a key in line, and each time another one.
#[test]
fn a_queue_that_never_catches_up_does_not_grow_for_ever() {
    let mut state = State::new();
    add(&mut state, 0..1);
    for key in 0..3 * KEPT {
        add(&mut state, key + 1..key + 2);
        serve(&mut state, key..key + 1);
        assert!(items_gone(&mut state) <= LOOKS);
        assert!(state.entries.len() <= KEPT + LEAVES + 1, "{key}");
    }
}

#[test]
fn a_large_queue_remembers_more() {
    let mut state = State::new();
    let others = KEPT / 4;
    let most = TIMES * others;
    add(&mut state, 0..most + others);
    serve(&mut state, 0..most);
    assert_eq!(state.remembered.len, most);
    assert!(state.gone().is_none());
    serve(&mut state, most..most + others - 1);
    assert!(state.remembered.len.abs_diff(most - others) <= LOOKS);
}

/// After a burst one key stays in work for hours, and few others come and go.
#[test]
fn what_a_burst_has_left_is_forgotten_though_the_queue_never_catches_up() {
    let mut state = State::new();
    add(&mut state, 0..8 * KEPT);
    let _hangs = take(&mut state);
    serve(&mut state, 1..8 * KEPT);
    assert!(state.remembered.len > 4 * KEPT);
    for key in (1..9).cycle().take(4 * KEPT) {
        add(&mut state, key..key + 1);
        serve(&mut state, key..key + 1);
    }
    assert!(state.remembered.len <= KEPT + LEAVES);
}

/// What stands in front on the list is always there for nothing, and as many are remembered
/// before each round as after it, but for some new ones.
#[test]
fn nobody_can_have_the_queue_remember_more_and_more() {
    let mut state = State::new();
    add(&mut state, 0..1);
    let _hangs = take(&mut state);
    let mut keys = 1..;
    let mut pass = |state: &mut State<usize>, count| {
        for key in keys.by_ref().take(count) {
            delay(state, key);
            assert!(state.cancel(key as KeyHash, &key, &mut clock()).0);
        }
    };
    let first = |state: &State<usize>, nth| {
        let id = state.remembered.ids.get(nth).expect("there are many");
        *state.entries.item(*id)
    };
    pass(&mut state, KEPT + LEAVES + 1);
    let mut waiting: Vec<_> = (0..LEAVES).map(|nth| first(&state, nth)).collect();
    waiting.iter().for_each(|key| delay(&mut state, *key));
    pass(&mut state, LEAVES);
    for _ in 0..500 {
        pass(&mut state, LEAVES);
        for (nth, waiting) in waiting.iter_mut().enumerate() {
            let key = std::mem::replace(waiting, first(&state, nth));
            state.cancel(key as KeyHash, &key, &mut clock());
            delay(&mut state, *waiting);
        }
        assert!(state.remembered.len <= KEPT + 4 * LEAVES);
    }
    state.check_remembered();
}

/// What is remembered makes room for what is in line.
#[test]
fn the_oldest_keys_make_room_before_the_entries_grow() {
    let mut state = State::new();
    add(&mut state, 0..4 * KEPT);
    serve(&mut state, 0..2 * KEPT);
    let capacity = state.entries.capacity();
    let new = 4 * KEPT..capacity + 1;
    add(&mut state, new.clone());
    assert_eq!(state.entries.capacity(), capacity);
    assert_eq!(state.entries.find(0, &0), None);
    assert_eq!(state.remembered.len, 2 * KEPT - LOOKS);
    serve(&mut state, 2 * KEPT..new.end);
}

/// More keys than are remembered come, go, wait and are cancelled in any order.
#[test]
fn the_list_is_right_whatever_happens_to_many_keys() {
    let mut random = StdRng::seed_from_u64(7);
    let mut state = State::new();
    let mut in_work = Vec::new();
    let mut forgotten = 0;
    // Is never done, so that the queue never catches up.
    add(&mut state, 0..1);
    let first = take(&mut state);
    for step in 0..400_000 {
        let key = random.random_range(1..3 * KEPT);
        match random.random_range(0..10) {
            0..2 => add(&mut state, key..key + 1),
            2 => delay(&mut state, key),
            3..5 => drop(state.cancel(key as KeyHash, &key, &mut clock())),
            _ if in_work.len() < 4 => in_work.extend(state.take(&mut clock())),
            _ => {
                let taken = in_work.swap_remove(random.random_range(0..4));
                done(&mut state, taken);
            }
        }
        forgotten += items_gone(&mut state);
        if step % 20_000 == 0 {
            state.check_remembered();
        }
        let others = state.len() + state.works.len();
        let most = KEPT.max(TIMES * others) + state.deadlines.len();
        assert!(state.remembered.len <= most, "{step}");
    }
    assert!(forgotten > 1_000, "{forgotten}");
    in_work
        .into_iter()
        .for_each(|taken| assert!(done(&mut state, taken).is_none()));
    while let Some(taken) = state.take(&mut clock()) {
        done(&mut state, taken);
    }
    assert_eq!(done(&mut state, first), Some(0));
    assert_eq!(state.entries.len(), state.deadlines.len());
    state.check_remembered();
}

#[test]
fn the_end_forgets_what_has_left() {
    let mut state = State::new();
    add(&mut state, 0..3);
    serve(&mut state, 0..2);
    assert_eq!(state.shut_down(&mut clock()).len(), 2);
    assert_eq!((state.entries.len(), items_gone(&mut state)), (1, 0));
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
            state.add(7, &mut owned(key), None, &mut clock());
        }
        let first = take(&mut state);
        done(&mut state, first);
        let mut key = Incoming::new(item);
        state.add(7, &mut key, None, &mut clock());
        assert_eq!(key.into_left().unwrap().1, 3 - expected);
        take(&mut state);
        assert_eq!(take(&mut state).item.1, expected);
    }
}
