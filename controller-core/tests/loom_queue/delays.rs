//! Delays: some getter always keeps the time.
use std::time::Duration;

use loom::thread::{self, JoinHandle};

use crate::queue::{Key, Queue};
use crate::sync::advance;
use crate::{THREE, model};

const TEN: Duration = Duration::from_millis(10);

/// The getter that keeps the time leaves with the first key, while the other sleeps
/// without a timer: the second deadline must not be forgotten.
#[test]
fn the_next_deadline_is_kept_by_the_getter_that_is_left() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add_after(1, 10);
        queue.add_after(2, 20);
        let getters = take_and_keep(&queue);
        advance(TEN);
        thread::yield_now();
        advance(TEN);
        assert_eq!(keys(getters), [1, 2]);
    });
}

/// A live key comes when the deadline does.
#[test]
fn a_deadline_and_a_key_at_once_wake_a_getter_each() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add_after(1, 10);
        let getters = take_and_keep(&queue);
        queue.add(2);
        advance(TEN);
        assert_eq!(keys(getters), [1, 2]);
    });
}

/// An earlier deadline comes while a getter falls asleep until a later one.
#[test]
fn an_earlier_deadline_sets_the_timer_anew() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add_after(1, 1_000);
        let getter = {
            let queue = queue.clone();
            thread::spawn(move || *queue.take())
        };
        let clock = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.add_after(2, 10);
                advance(TEN);
            })
        };
        clock.join().unwrap();
        assert_eq!(getter.join().unwrap(), 2);
    });
}

/// Two getters that each take a key and keep it, so that the other needs another.
fn take_and_keep(queue: &Queue) -> [JoinHandle<Key>; 2] {
    [queue.clone(), queue.clone()].map(|queue| {
        thread::spawn(move || {
            let ticket = queue.take();
            let key = *ticket;
            std::mem::forget(ticket);
            key
        })
    })
}

fn keys(getters: [JoinHandle<Key>; 2]) -> [Key; 2] {
    let mut keys = getters.map(|it| it.join().expect("no getter panics"));
    keys.sort_unstable();
    keys
}
