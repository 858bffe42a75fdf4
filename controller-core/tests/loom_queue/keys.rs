//! Keys: none lost, none in two workers.
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::blocking::block_on;
use crate::queue::{Key, Queue};
use crate::{THREE, model};

const FOO: Key = 1;

/// WQ-06: a key that is added twice while in work is served once more, after that work,
/// and by whoever serves it the second add has been made.
#[test]
fn a_key_added_in_work_is_served_once_more_and_never_by_two() {
    model(THREE, || {
        let queue = Queue::new();
        let in_work = Arc::new(AtomicUsize::new(1));
        let news = Arc::new(AtomicUsize::new(0));
        queue.add(FOO);
        let ticket = queue.take();

        let adder = {
            let (queue, news) = (queue.clone(), Arc::clone(&news));
            thread::spawn(move || {
                for version in 1..=2 {
                    news.store(version, Ordering::SeqCst);
                    queue.add(FOO);
                }
            })
        };
        let worker = {
            let (queue, news, in_work) = (queue.clone(), Arc::clone(&news), Arc::clone(&in_work));
            thread::spawn(move || {
                let mut served = Vec::new();
                // The second add may come after the first one was served.
                while served.last() != Some(&2) {
                    let ticket = queue.take();
                    assert_eq!(in_work.fetch_add(1, Ordering::SeqCst), 0, "in two workers");
                    served.push(news.load(Ordering::SeqCst));
                    in_work.fetch_sub(1, Ordering::SeqCst);
                    drop(ticket);
                }
                served.len()
            })
        };
        in_work.fetch_sub(1, Ordering::SeqCst);
        drop(ticket);

        adder.join().unwrap();
        assert!(worker.join().unwrap() <= 2, "two adds are at most two");
        queue.shut_down();
        assert!(block_on(queue.get()).is_none_or(|it| *it == FOO));
    });
}

/// Two keys and two getters: each gets one, whichever call comes first.
#[test]
fn every_getter_is_woken_for_a_key_of_its_own() {
    model(THREE, || {
        let queue = Queue::new();
        let getters: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || {
                    let ticket = queue.take();
                    let key = *ticket;
                    // Kept, so that the other getter needs a key of its own.
                    std::mem::forget(ticket);
                    key
                })
            })
            .collect();
        queue.add(1);
        queue.add(2);
        let mut keys: Vec<_> = getters.into_iter().map(|it| it.join().unwrap()).collect();
        keys.sort_unstable();
        assert_eq!(keys, [1, 2]);
    });
}

/// A getter that is dropped just when it is woken, as a cancelled worker is.
#[test]
fn a_dropped_getter_passes_its_wake_up_on() {
    model(THREE, || {
        let queue = Queue::new();
        let dropper = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut get = queue.get();
                let poll = Pin::new(&mut get).poll(&mut Context::from_waker(Waker::noop()));
                if let Poll::Ready(ticket) = poll {
                    queue.add(FOO); // It came too early to sleep: leave the key to the other.
                    drop(ticket);
                }
            })
        };
        let getter = {
            let queue = queue.clone();
            thread::spawn(move || *queue.take())
        };
        queue.add(FOO);
        dropper.join().unwrap();
        assert_eq!(getter.join().unwrap(), FOO);
    });
}

/// The end of work puts a marked key in line and must wake an idle worker for it.
#[test]
fn the_end_of_work_wakes_a_getter_for_the_key_that_was_marked() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add(FOO);
        let ticket = queue.take();
        let adder = {
            let queue = queue.clone();
            thread::spawn(move || queue.add(FOO))
        };
        let getter = {
            let queue = queue.clone();
            thread::spawn(move || *queue.take())
        };
        drop(ticket);
        adder.join().unwrap();
        assert_eq!(getter.join().unwrap(), FOO);
        assert_eq!(queue.len(), 0);
    });
}
