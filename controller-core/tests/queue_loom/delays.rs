//! Delays: some getter always keeps the time.
use std::time::Duration;

use loom::thread;

use crate::queue::{Queue, model};
use crate::sync::advance;

const TEN: Duration = Duration::from_millis(10);

/// The getter that keeps the time may be the one that leaves with the live key: the
/// other must take the deadline over.
#[test]
fn the_deadline_passes_on_when_its_keeper_is_given_a_key() {
    model(3, || {
        let queue = Queue::new();
        queue.add_after(1, 10);
        let getters: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || {
                    let ticket = queue.take();
                    let key = *ticket;
                    std::mem::forget(ticket);
                    key
                })
            })
            .collect();
        queue.add(2);
        advance(TEN);
        let mut keys: Vec<_> = getters.into_iter().map(|it| it.join().unwrap()).collect();
        keys.sort_unstable();
        assert_eq!(keys, [1, 2]);
    });
}

/// An earlier deadline comes while a getter falls asleep until a later one.
#[test]
fn an_earlier_deadline_sets_the_timer_anew() {
    model(3, || {
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
