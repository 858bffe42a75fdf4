//! Shutdowns: everyone who waits returns.
use loom::thread;

use crate::blocking::block_on;
use crate::queue::{Key, Queue};
use crate::{THREE, THREE_OF_MANY, model};

const FOO: Key = 1;

/// A key that is added while the queue shuts down is served or ignored, and not stuck.
#[test]
fn an_add_beside_a_shutdown_is_served_or_ignored() {
    model(THREE, || {
        let queue = Queue::new();
        let worker = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut served = 0;
                while let Some(ticket) = block_on(queue.get()) {
                    assert_eq!(*ticket, FOO);
                    served += 1;
                }
                served
            })
        };
        let adder = {
            let queue = queue.clone();
            thread::spawn(move || queue.add(FOO))
        };
        queue.shut_down();
        adder.join().unwrap();
        assert!(worker.join().unwrap() <= 1);
        assert_eq!(queue.len(), 0);
    });
}

/// WQ-09: the second shutdown and the end of the work race for the drain.
#[test]
fn a_later_shutdown_lets_a_drain_go() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add(FOO);
        let ticket = queue.take();
        let drain = queue.drain();
        let drainer = thread::spawn(move || block_on(drain));
        let done = thread::spawn(move || drop(ticket));
        queue.shut_down();
        let drained = drainer.join().unwrap();
        assert_eq!(drained.completed, drained.abandoned == 0);
        done.join().unwrap();
    });
}

/// WQ-09, without the end of the work: the ticket outlives the drain.
#[test]
fn a_drain_is_let_go_while_its_key_is_in_work() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add(FOO);
        let ticket = queue.take();
        let drain = queue.drain();
        let drainer = thread::spawn(move || block_on(drain));
        queue.shut_down();
        let drained = drainer.join().unwrap();
        assert_eq!((drained.completed, drained.abandoned), (false, 1));
        drop(ticket);
    });
}

/// BX-02: two drains and an idle getter, and one end of work that all of them wait for.
#[test]
fn two_drains_and_an_idle_getter_all_return() {
    model(THREE_OF_MANY, || {
        let queue = Queue::new();
        queue.add(FOO);
        let ticket = queue.take();
        let drainers: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || block_on(queue.drain()))
            })
            .collect();
        let getter = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.get()).is_none())
        };
        drop(ticket);
        for drainer in drainers {
            assert!(drainer.join().unwrap().completed);
        }
        assert!(getter.join().unwrap());
    });
}

/// BX-01: a drain ends after the worker has served the key that was in line.
#[test]
fn a_drain_ends_when_the_last_key_in_line_is_served() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add(FOO);
        let worker = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut served = 0;
                while let Some(_ticket) = block_on(queue.get()) {
                    served += 1;
                }
                served
            })
        };
        let drained = block_on(queue.drain());
        assert!(drained.completed);
        assert_eq!(worker.join().unwrap(), 1);
    });
}

/// The deadline of a drain races with the worker.
#[test]
fn a_halt_ends_drains_and_getters_and_loses_count_of_nothing() {
    model(THREE, || {
        let queue = Queue::new();
        queue.add(1);
        queue.add(2);
        let worker = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut served = 0;
                while let Some(_ticket) = block_on(queue.get()) {
                    served += 1;
                }
                served
            })
        };
        let drain = queue.drain();
        let drainer = thread::spawn(move || block_on(drain));
        let halted = queue.halt();
        let served = worker.join().unwrap();
        let drained = drainer.join().unwrap();
        // A key in work at the halt is both abandoned and, here, served to its end.
        assert!((2..=3).contains(&(served + halted.abandoned)));
        assert!(drained == halted || drained.completed);
        assert_eq!(queue.len(), 0);
    });
}
