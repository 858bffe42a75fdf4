//! client-go's numbers. `events` is `tools/events/event_broadcaster.go`, `record` is
//! `tools/record/events_cache.go`, both of v0.36.

use std::time::Duration;

/// How often an event is sent before it is given up. `events: maxTriesPerEvent`.
pub(super) const MAX_TRIES: u32 = 12;

/// How long between two tries, at least. `events: defaultSleepDuration`.
pub(super) const RETRY_WAIT: Duration = Duration::from_secs(10);

/// By how much of itself that wait is longer, at most, so that clients do not come back as
/// one after an outage. `events: attemptRecording`, the factor of `wait.Jitter`.
pub(super) const RETRY_JITTER: f64 = 0.25;

/// A series that was quiet for longer has ended, and how often that is looked for.
/// `events: finishTime`, which serves both.
pub(super) const FINISH_TIME: Duration = Duration::from_secs(6 * 60);

/// How often the server is told of the counts of all live series. It keeps an event for an
/// hour after the last write, by default, so that this also keeps a series from expiring.
/// `events: refreshTime`.
pub(super) const REFRESH_TIME: Duration = Duration::from_secs(30 * 60);

/// How many new events wait for the server. `events: maxQueuedEvents`.
pub(super) const MAX_WAITING: usize = 1000;

/// How many series are remembered. There is no such bound in `events`; in `record` it is
/// `maxLruCacheEntries`.
pub(super) const MAX_SERIES: usize = 4096;

/// How many objects' shares the spam filter remembers. `record: maxLruCacheEntries`.
pub(super) const MAX_SHARES: usize = 4096;

/// How many events about an object are sent at once. `record: defaultSpamBurst`.
pub(super) const SPAM_BURST: u32 = 25;

/// After how long one more may be. `record: defaultSpamQPS` is one in 300 s.
pub(super) const SPAM_PERIOD: Duration = Duration::from_secs(300);
