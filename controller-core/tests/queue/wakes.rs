//! Who is woken: no getter too few, and none too many.
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use controller_core::queue::{Get, Ticket, WorkQueue};
use tokio::time::advance;

/// A getter that is polled when told, and counts how often it was woken.
struct Sleeper {
    get: Get<u32>,
    ticket: Option<Ticket<u32>>,
    wakes: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicUsize);

#[tokio::test]
async fn one_key_wakes_one_getter() {
    let queue = WorkQueue::new("test");
    let sleepers: Vec<_> = (0..8).map(|_| Sleeper::new(&queue)).collect();
    queue.add(1);
    assert_eq!(woken(&sleepers), 1);
    queue.add(1);
    assert_eq!(woken(&sleepers), 1, "the key is in line already");
    queue.add(2);
    assert_eq!(woken(&sleepers), 2);
}

#[tokio::test]
async fn a_woken_getter_that_is_dropped_passes_its_wake_up_on() {
    let queue = WorkQueue::new("test");
    let mut sleepers: Vec<_> = (0..3).map(|_| Sleeper::new(&queue)).collect();
    queue.add(1);
    assert_eq!(sleepers[0].wakes(), 1);
    sleepers.remove(0);
    assert_eq!(woken(&sleepers), 1);
    assert_eq!(queue.len(), 1);
}

#[tokio::test]
async fn a_sleeping_getter_that_is_dropped_wakes_nobody() {
    let queue = WorkQueue::new("test");
    let mut sleepers: Vec<_> = (0..3).map(|_| Sleeper::new(&queue)).collect();
    sleepers.remove(0);
    assert_eq!(woken(&sleepers), 0);
    queue.add(1);
    assert_eq!(woken(&sleepers), 1);
}

#[tokio::test]
async fn a_getter_whose_key_was_taken_by_another_sleeps_on() {
    let queue = WorkQueue::new("test");
    let mut slow = Sleeper::new(&queue);
    queue.add(1);
    let quick = Sleeper::new(&queue);
    assert!(quick.ticket.is_some(), "it took the key in its first poll");
    slow.poll();
    assert!(slow.ticket.is_none());
    queue.add(2);
    assert_eq!(slow.wakes(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_wakes_one_getter() {
    let queue = WorkQueue::new("test");
    queue.add_after(1, Duration::from_millis(10));
    let sleepers: Vec<_> = (0..8).map(|_| Sleeper::new(&queue)).collect();
    advance(Duration::from_millis(10)).await;
    tokio::task::yield_now().await;
    assert_eq!(woken(&sleepers), 1);
}

#[tokio::test]
async fn the_shutdown_wakes_every_getter() {
    let queue = WorkQueue::new("test");
    let sleepers: Vec<_> = (0..8).map(|_| Sleeper::new(&queue)).collect();
    queue.shut_down();
    assert_eq!(woken(&sleepers), 8);
}

fn woken(sleepers: &[Sleeper]) -> usize {
    sleepers.iter().map(Sleeper::wakes).sum()
}

// === impl Sleeper ===

impl Sleeper {
    fn new(queue: &WorkQueue<u32>) -> Self {
        let mut sleeper = Self {
            get: queue.get(),
            ticket: None,
            wakes: Arc::default(),
        };
        sleeper.poll();
        sleeper
    }

    fn poll(&mut self) {
        let waker = Waker::from(Arc::clone(&self.wakes));
        let poll = Pin::new(&mut self.get).poll(&mut Context::from_waker(&waker));
        if let Poll::Ready(ticket) = poll {
            self.ticket = ticket;
        }
    }

    fn wakes(&self) -> usize {
        self.wakes.0.load(Ordering::Relaxed)
    }
}

// === impl Wakes ===

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
