use std::fmt;
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::lister::Lister;
use super::position::CaughtUp;
use crate::client::ObjectKey;
use crate::watch::{Object, is_older};

/// Remembers what a controller wrote until its cache shows it.
///
/// A write comes back through the watch, some milliseconds later. Whoever looks at the cache
/// in between decides from the state of before it: the write of the same thing is tried
/// again and refused, or, where nothing guards it, a second Pod is made.
///
/// ```
/// use std::time::Duration;
/// use controller_core::client::ObjectKey;
/// use controller_core::store::{CaughtUp, OwnWrites, cache};
/// use controller_core::watch::WatchEvent;
/// use k8s_openapi::api::core::v1::ConfigMap;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let (mut writer, lister) = cache::<ConfigMap>(Vec::new());
/// writer.apply(WatchEvent::Bookmark { resource_version: "10".into() });
/// let writes = OwnWrites::new(lister, Duration::from_secs(30));
///
/// // After a write: the version is in the server's answer.
/// let key = ObjectKey::namespaced("shop", "colours");
/// writes.record(&key, "12");
///
/// // At the head of reconcile: later, if the cache is behind.
/// assert_eq!(writes.check(&key), CaughtUp::Behind);
///
/// // The watch catches up, here with what somebody else did meanwhile.
/// writer.apply(WatchEvent::Bookmark { resource_version: "13".into() });
/// assert_eq!(writes.check(&key), CaughtUp::Yes);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// It is an economy and no guard. After `patience`, behind a server whose versions are no
/// numbers, after a restore from a backup, and for an object whose newest state cannot be read
/// it says [`CaughtUp::Unknown`]: a watch that is stuck must not stop a controller. Guard each
/// write by the version that was read.
///
/// What is remembered is what was written within `patience` and is not yet in the cache, one
/// entry a key.
pub struct OwnWrites<T> {
    lister: Lister<T>,
    patience: Duration,
    records: Mutex<Records>,
}

#[derive(Debug, Default)]
struct Records {
    by_key: HashMap<ObjectKey, Record>,
    /// The size at which what nobody asks for is looked for.
    sweep_at: usize,
}

#[derive(Debug)]
struct Record {
    version: Box<str>,
    /// That of the cache when it was written: see `Position`.
    history: u64,
    /// `None` is longer than any clock can tell.
    until: Option<Instant>,
}

// === impl OwnWrites ===

impl<T: Object> OwnWrites<T> {
    /// Remembers writes of the kind that `lister` shows, each for at most `patience`.
    pub fn new(lister: Lister<T>, patience: Duration) -> Self {
        Self {
            lister,
            patience,
            records: Mutex::default(),
        }
    }

    /// The server has stored a write of `key`; `version` is the object's `resourceVersion`
    /// in its answer. Does nothing if the cache has seen that already, or if it cannot be
    /// told.
    pub fn record(&self, key: &ObjectKey, version: &str) {
        let (state, history) = self.lister.where_is(version);
        if state.may_go_on() {
            return;
        }
        let mut records = self.records.lock();
        let newer_is_known = records
            .by_key
            .get(key)
            .is_some_and(|known| known.history == history && is_older(version, &known.version));
        if newer_is_known {
            return;
        }
        let record = Record {
            version: version.into(),
            history,
            until: Instant::now().checked_add(self.patience),
        };
        records.by_key.insert(key.clone(), record);
        records.sweep(&self.lister);
    }

    /// Whether the cache shows our last write of `key`. [`Yes`](CaughtUp::Yes) if none is
    /// remembered. [`Unknown`](CaughtUp::Unknown) for as long as the newest state of the object
    /// cannot be read: the cache has come to the version, but shows what was before it.
    pub fn check(&self, key: &ObjectKey) -> CaughtUp {
        let state = self.seen(key);
        // In this order: what moved the position has been marked by then.
        if state == CaughtUp::Yes && self.lister.is_quarantined(key) {
            return CaughtUp::Unknown;
        }
        state
    }

    /// Whether the cache has come to the version of our last write of `key`.
    fn seen(&self, key: &ObjectKey) -> CaughtUp {
        let mut records = self.records.lock();
        let Some(record) = records.by_key.get(key) else {
            return CaughtUp::Yes;
        };
        let state = record.state(&self.lister);
        if state.may_go_on() {
            records.by_key.remove(key);
        }
        state
    }

    /// Waits until the cache shows our last write of `key`, for at most `within`;
    /// [`Behind`](CaughtUp::Behind) if it does not by then.
    ///
    /// In a reconciler rather requeue the key: a worker that waits here works on no other.
    pub async fn caught_up(&self, key: &ObjectKey, within: Duration) -> CaughtUp {
        let waiting = async {
            loop {
                let moved = self.lister.moved();
                match self.check(key) {
                    CaughtUp::Behind => moved.await,
                    state => return state,
                }
            }
        };
        tokio::time::timeout(within, waiting)
            .await
            .unwrap_or_else(|_| self.check(key))
    }

    /// How many writes are remembered.
    pub fn len(&self) -> usize {
        self.records.lock().by_key.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> fmt::Debug for OwnWrites<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnWrites")
            .field("patience", &self.patience)
            .field("records", &self.records.lock().by_key)
            .finish_non_exhaustive()
    }
}

// === impl Records ===

impl Records {
    /// Below it nothing is looked for.
    const FEW: usize = 64;

    /// What nobody checks any more must not stay for ever. Each record is looked at twice,
    /// on the average.
    fn sweep<T: Object>(&mut self, lister: &Lister<T>) {
        if self.by_key.len() < self.sweep_at.max(Self::FEW) {
            return;
        }
        self.by_key
            .retain(|_, record| !record.state(lister).may_go_on());
        self.sweep_at = self.by_key.len() * 2;
    }
}

// === impl Record ===

impl Record {
    fn state<T: Object>(&self, lister: &Lister<T>) -> CaughtUp {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return CaughtUp::Unknown;
        }
        lister.caught_up_since(&self.version, self.history)
    }
}

#[cfg(test)]
mod tests;
