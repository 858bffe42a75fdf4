//! Producers beside workers, while delays come due and the queue shuts down.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use loom::thread::{self, JoinHandle};

use crate::blocking::block_on;
use crate::queue::{Key, Queue};
use crate::sync::advance;
use crate::{EXHAUSTIVE, FIVE, Preemptions, THREE_OF_MANY, TWO_OF_MANY, model};

const DELAY: u64 = 10;

/// What workers have seen. No atomic of loom's: these are for the assertions, which shall not
/// multiply the interleavings.
#[derive(Clone, Default)]
struct Seen(Arc<[Of; 2]>);

/// How a worker begins.
type Spawn = fn(&Queue, &Seen) -> JoinHandle<()>;

/// Of one key.
#[derive(Default)]
struct Of {
    served: AtomicUsize,
    /// How often it was added, and how often when it was served last.
    added: AtomicUsize,
    noticed: AtomicUsize,
}

/// Add, get, done and shutdown of one producer, one worker and a third thread, in every order.
#[test]
fn one_producer_and_one_worker() {
    model(EXHAUSTIVE, || {
        let (queue, seen) = (Queue::new(), Seen::default());
        let producer = {
            let (queue, seen) = (queue.clone(), seen.clone());
            thread::spawn(move || {
                seen.add(&queue, 0);
                seen.add(&queue, 1);
            })
        };
        let worker = worker(&queue, &seen);
        queue.shut_down();
        producer.join().unwrap();
        worker.join().unwrap();
        seen.check(&queue, 2);
    });
}

/// A delay that comes due at any time beside a worker who falls asleep.
#[test]
fn one_producer_and_one_worker_and_a_delay() {
    model(EXHAUSTIVE, || {
        let queue = Queue::new();
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || queue.add_after(0, DELAY))
        };
        let worker = {
            let queue = queue.clone();
            thread::spawn(move || *queue.take())
        };
        advance(Duration::from_millis(DELAY));
        producer.join().unwrap();
        // Whatever time it was at the call, it has passed after this.
        advance(Duration::from_millis(DELAY));
        assert_eq!(worker.join().unwrap(), 0);
        assert_eq!((queue.lost(), queue.len()), (0, 0));
    });
}

/// All of it at once.
#[test]
fn one_producer_and_one_worker_and_a_delay_and_a_shutdown() {
    model(EXHAUSTIVE, || {
        let (queue, seen) = (Queue::new(), Seen::default());
        let producer = {
            let (queue, seen) = (queue.clone(), seen.clone());
            thread::spawn(move || {
                seen.add(&queue, 0);
                queue.add_after(1, DELAY);
            })
        };
        let worker = worker(&queue, &seen);
        advance(Duration::from_millis(DELAY));
        queue.shut_down();
        producer.join().unwrap();
        worker.join().unwrap();
        seen.check(&queue, 2);
    });
}

/// Two producers add the same key; it is served after each add.
#[test]
fn two_producers_and_one_worker() {
    model(EXHAUSTIVE, || {
        let (queue, seen) = (Queue::new(), Seen::default());
        let producers = [(); 2].map(|()| adder(&queue, &seen));
        let worker = worker(&queue, &seen);
        for producer in producers {
            producer.join().unwrap();
        }
        queue.shut_down();
        worker.join().unwrap();
        let key = &seen.0[0];
        assert_eq!(key.noticed.load(Relaxed), 2, "the last add was not served");
        assert!((1..=2).contains(&key.served.load(Relaxed)));
        assert_eq!((queue.lost(), queue.len()), (0, 0));
    });
}

/// One of them with a delay, which comes due at any time after that. The worker is this thread,
/// for each further one multiplies the interleavings.
#[test]
fn two_producers_and_one_worker_and_a_delay() {
    model(EXHAUSTIVE, || {
        let queue = Queue::new();
        let adder = {
            let queue = queue.clone();
            thread::spawn(move || queue.add(0))
        };
        let delayer = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.add_after(1, DELAY);
                advance(Duration::from_millis(DELAY));
            })
        };
        let first = queue.take();
        let mut keys = [*first; 2];
        let second = block_on(Queue::next(first)).expect("the queue is open");
        keys[1] = *second;
        drop(second);
        keys.sort_unstable();
        assert_eq!(keys, [0, 1]);
        adder.join().unwrap();
        delayer.join().unwrap();
        assert_eq!((queue.lost(), queue.len()), (0, 0));
    });
}

/// And a shutdown, beside the other producer.
#[test]
fn two_producers_and_one_worker_and_a_delay_and_a_shutdown() {
    model(EXHAUSTIVE, || {
        let (queue, seen) = (Queue::new(), Seen::default());
        let adder = adder(&queue, &seen);
        let delayer = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.add_after(1, DELAY);
                advance(Duration::from_millis(DELAY));
                queue.shut_down();
            })
        };
        serve(&queue, &seen);
        adder.join().unwrap();
        delayer.join().unwrap();
        seen.check(&queue, 2);
    });
}

/// The same with time that passes, and a shutdown, also before the delay is asked for.
#[test]
fn two_producers_and_one_worker_and_a_clock_and_a_shutdown() {
    two_producers_and(FIVE, [worker]);
}

/// As many threads as loom can do: two producers, two workers, and this one, which makes the
/// delay due and shuts down.
#[test]
fn two_producers_and_two_workers() {
    two_producers_and(TWO_OF_MANY, [worker; 2]);
}

/// One preemption more, with workers that are there for one key each. It takes two minutes.
#[test]
fn two_producers_and_two_workers_for_one_key_each() {
    two_producers_and(THREE_OF_MANY, [taker; 2]);
}

/// These workers. This thread makes the delay due and shuts down.
fn two_producers_and<const N: usize>(preemptions: Preemptions, workers: [Spawn; N]) {
    model(preemptions, move || {
        let (queue, seen) = (Queue::new(), Seen::default());
        let producers = [adder(&queue, &seen), delayer(&queue)];
        let workers = workers.map(|spawn| spawn(&queue, &seen));
        advance(Duration::from_millis(DELAY));
        queue.shut_down();
        for thread in producers.into_iter().chain(workers) {
            thread
                .join()
                .expect("invariant: no thread of a model panics");
        }
        seen.check(&queue, 2);
    });
}

/// Adds the first key.
fn adder(queue: &Queue, seen: &Seen) -> JoinHandle<()> {
    let (queue, seen) = (queue.clone(), seen.clone());
    thread::spawn(move || seen.add(&queue, 0))
}

/// Delays the second key.
fn delayer(queue: &Queue) -> JoinHandle<()> {
    let queue = queue.clone();
    thread::spawn(move || queue.add_after(1, DELAY))
}

/// Serves one key, if one comes.
fn taker(queue: &Queue, seen: &Seen) -> JoinHandle<()> {
    let (queue, seen) = (queue.clone(), seen.clone());
    thread::spawn(move || {
        if let Some(ticket) = block_on(queue.get()) {
            seen.served(*ticket);
        }
    })
}

/// Serves keys until there are none, and ends each in the same step in which it takes the next.
fn worker(queue: &Queue, seen: &Seen) -> JoinHandle<()> {
    let (queue, seen) = (queue.clone(), seen.clone());
    thread::spawn(move || serve(&queue, &seen))
}

fn serve(queue: &Queue, seen: &Seen) {
    let mut next = queue.get();
    while let Some(ticket) = block_on(next) {
        seen.served(*ticket);
        // Work takes time, in which others do something.
        thread::yield_now();
        next = Queue::next(ticket);
    }
}

// === impl Seen ===

impl Seen {
    fn add(&self, queue: &Queue, key: Key) {
        self.0[usize::from(key)].added.fetch_add(1, Relaxed);
        queue.add(key);
    }

    fn served(&self, key: Key) {
        let of = &self.0[usize::from(key)];
        of.served.fetch_add(1, Relaxed);
        of.noticed.store(of.added.load(Relaxed), Relaxed);
    }

    /// Of so many adds of different keys each was served, once, or is counted as lost.
    fn check(&self, queue: &Queue, adds: usize) {
        let served = self.0.each_ref().map(|it| it.served.load(Relaxed));
        assert!(served.into_iter().all(|times| times <= 1), "{served:?}");
        assert_eq!(served.into_iter().sum::<usize>() + queue.lost(), adds);
        assert_eq!(queue.len(), 0);
    }
}
