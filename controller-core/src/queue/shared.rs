use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::DefaultHashBuilder;

use super::clock::{Clock, Nanos};
use super::entries::KeyHash;
use super::phase::Phase;
use super::state::State;
use super::sync::{Instant, Mutex, now};
use super::waiters::{Signal, Waiters, Wakes};

/// The state of a queue and the futures that wait for it, under one lock.
///
/// One lock keeps the proof short, and it is held for a look-up and a few links; never
/// while a key is hashed or dropped, or a waker runs.
pub(super) struct Shared<T> {
    epoch: Instant,
    stamping: AtomicBool,
    hasher: DefaultHashBuilder,
    inner: Mutex<Inner<T>>,
}

pub(super) struct Inner<T> {
    pub(super) state: State<T>,
    pub(super) waiters: Waiters,
}

// === impl Shared ===

impl<T> Shared<T> {
    pub(super) fn new() -> Self {
        Self {
            epoch: now(),
            stamping: AtomicBool::new(false),
            hasher: DefaultHashBuilder::default(),
            inner: Mutex::new(Inner {
                state: State::new(),
                waiters: Waiters::default(),
            }),
        }
    }

    /// Notes from now on when keys come and go.
    pub(super) fn take_timestamps(&self) {
        let mut inner = self.inner.lock();
        inner.state.counts.times.get_or_insert_default();
        self.stamping.store(true, Ordering::Relaxed);
    }

    /// Makes one change: first what is due goes in line, last those are woken whom the
    /// change concerns. Every access to the keys goes through here.
    ///
    /// Keys and wakers that the change takes out belong to the caller, so that they are dropped
    /// by it and not under the lock: their drop may call the queue.
    pub(super) fn update<R>(&self, change: impl FnOnce(&mut Inner<T>, &mut Clock) -> R) -> R {
        let mut clock = Clock::new(self.epoch, self.stamping.load(Ordering::Relaxed));
        let mut inner = self.inner.lock();
        inner.state.promote(&mut clock);
        let result = change(&mut inner, &mut clock);
        // Most changes concern nobody who waits: then there is nothing to pass on either.
        let wakes = (!inner.waiters.nobody_waits()).then(|| inner.rouse());
        let _gone = inner.state.gone();
        drop(inner);
        if let Some(wakes) = wakes {
            wakes.wake();
        }
        result
    }

    /// The time `at` as a timer wants it.
    pub(super) fn instant(&self, at: Nanos) -> Instant {
        Clock::instant(self.epoch, at)
    }
}

impl<T: Hash> Shared<T> {
    /// To be called before the lock is taken.
    pub(super) fn hash(&self, item: &T) -> KeyHash {
        (self.hasher.hash_one(item) >> 32) as KeyHash
    }
}

// === impl Inner ===

impl<T> Inner<T> {
    fn rouse(&mut self) -> Wakes {
        let closed = self.state.phase() != Phase::Open;
        let progress = self.state.progress();
        self.waiters.rouse(&Signal {
            in_line: self.state.len(),
            earliest: self.state.earliest(),
            ended: closed && self.state.len() == 0,
            drained: closed && progress.over,
            releases: progress.releases,
        })
    }
}
