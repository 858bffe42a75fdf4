use std::fmt::Display;
use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::key_text::KeyText;

/// Logs failures so that a person can read them while everything fails.
///
/// A failure is *news* when its key failed with another message before, or not at all.
/// News is logged at `warn` ([`NEWS_LINES`] lines in [`NEWS_WINDOW`], so that 200 keys
/// that fail for one cause are no 200 lines), all else at `debug`. What was held back is
/// summed up in one `warn` line after 10 s, then 20, 40, … up to 10 min apart for as long
/// as anything fails. No line sums up mere repetitions once nothing fails any more.
pub(super) struct FailureLog<K> {
    inner: Mutex<Inner<K>>,
}

/// What will be done about the key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Retry,
    /// Nothing, until its object changes.
    GiveUp,
}

struct Inner<K> {
    /// The failing keys, each with a hash of its last message. A success removes it.
    failing: HashMap<K, u64>,
    window_ends: Option<Instant>,
    lines_left: usize,
    held_back: Option<HeldBack<K>>,
    summary_interval: Duration,
}

struct HeldBack<K> {
    failures: usize,
    /// Was news among them?
    news: bool,
    last_key: K,
    last_message: String,
    due: Instant,
}

pub(super) const NEWS_LINES: usize = 10;
pub(super) const NEWS_WINDOW: Duration = Duration::from_secs(10);
const FIRST_SUMMARY: Duration = Duration::from_secs(10);
const LAST_SUMMARY: Duration = Duration::from_secs(600);

// === impl FailureLog ===

impl<K: Clone + Eq + Hash + Display> FailureLog<K> {
    pub(super) fn new() -> Self {
        Self {
            inner: Mutex::new(Inner {
                failing: HashMap::new(),
                window_ends: None,
                lines_left: 0,
                held_back: None,
                summary_interval: FIRST_SUMMARY,
            }),
        }
    }

    /// A call for the key failed.
    pub(super) fn failed(&self, key: &K, message: &str, next: Next) {
        let shown = self.inner.lock().record(key, message, Instant::now());
        // The span has the key too, but a log may leave spans out.
        let key = KeyText(key);
        match (shown, next) {
            (true, Next::Retry) => tracing::warn!(%key, error = message, "reconcile failed"),
            (true, Next::GiveUp) => {
                tracing::warn!(%key, error = message, "reconcile failed and is not retried");
            }
            (false, _) => tracing::debug!(%key, error = message, "reconcile failed again"),
        }
    }

    /// A call for the key succeeded.
    pub(super) fn succeeded(&self, key: &K) {
        let mut inner = self.inner.lock();
        if inner.failing.remove(key).is_some() {
            if inner.failing.is_empty() {
                inner.summary_interval = FIRST_SUMMARY;
            }
            drop(inner);
            tracing::debug!("reconcile succeeded again");
        }
    }

    /// Writes the summary if it is due.
    pub(super) fn sum_up(&self) {
        let now = Instant::now();
        self.write_summary(|held_back| held_back.due <= now);
    }

    /// Writes the summary if there is anything to sum up.
    pub(super) fn flush(&self) {
        self.write_summary(|_| true);
    }

    fn write_summary(&self, wanted: impl FnOnce(&HeldBack<K>) -> bool) {
        let (held_back, failing) = {
            let mut inner = self.inner.lock();
            let Some(held_back) = inner.held_back.take_if(|it| wanted(it)) else {
                return;
            };
            inner.summary_interval = (inner.summary_interval * 2).min(LAST_SUMMARY);
            (held_back, inner.failing.len())
        };
        if failing == 0 && !held_back.news {
            return;
        }
        tracing::warn!(
            failing,
            failures = held_back.failures,
            key = %KeyText(&held_back.last_key),
            error = held_back.last_message,
            "more reconciles failed, the last of them with this error",
        );
    }
}

// === impl Inner ===

impl<K: Clone + Eq + Hash> Inner<K> {
    /// Counts a failure; true if it is to be shown.
    fn record(&mut self, key: &K, message: &str, now: Instant) -> bool {
        let hash = self.failing.hasher().hash_one(message);
        let news = self.failing.insert(key.clone(), hash) != Some(hash);
        if self.window_ends.is_none_or(|ends| ends <= now) {
            self.window_ends = Some(now + NEWS_WINDOW);
            self.lines_left = NEWS_LINES;
        }
        if news && self.lines_left > 0 {
            self.lines_left -= 1;
            return true;
        }
        let (key, message) = (key.clone(), message.to_owned());
        match &mut self.held_back {
            Some(held_back) => {
                held_back.failures += 1;
                held_back.news |= news;
                held_back.last_key = key;
                held_back.last_message = message;
            }
            None => {
                self.held_back = Some(HeldBack {
                    failures: 1,
                    news,
                    last_key: key,
                    last_message: message,
                    due: now + self.summary_interval,
                });
            }
        }
        false
    }
}
