use super::phase::Phase;
use super::state::State;
use super::sync::{Instant, Mutex, now};
use super::waiters::{Signal, Waiters, Wakes};

/// The state of a queue and the futures that wait for it, under one lock.
///
/// One lock keeps the proof short, and it is held for a few hash look-ups at most; never
/// while a waker runs.
pub(super) struct Shared<T> {
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
            inner: Mutex::new(Inner {
                state: State::new(),
                waiters: Waiters::default(),
            }),
        }
    }

    /// Makes one change: first what is due goes in line, last those are woken whom the
    /// change concerns. Every access to the queue goes through here.
    pub(super) fn update<R>(&self, change: impl FnOnce(&mut Inner<T>, Instant) -> R) -> R {
        let now = now();
        let (result, wakes) = {
            let mut inner = self.inner.lock();
            inner.state.promote(now);
            let result = change(&mut inner, now);
            (result, inner.rouse())
        };
        wakes.wake();
        result
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
