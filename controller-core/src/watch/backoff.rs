use std::time::Duration;

use rand::RngExt;
use tokio::time::Instant;

/// How long to wait before the next try: it doubles, by default from 0.8 s to 30 s, with
/// jitter.
///
/// Each wait is drawn evenly between a floor and twice the floor, so that the clients
/// of a server that restarts do not return in step. The floor doubles from the first to the
/// last. It starts over only after a *healthy* time, which the caller reports: client-go
/// starts over by the clock, so that a server that is down for long sees the ramp again
/// every two minutes.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// Of the next wait, not of the last one.
    floor: Duration,
    first: Duration,
    last: Duration,
}

/// Whether a watch was healthy enough for the backoff to start over.
///
/// One a watch, never carried over to the next: what counts is whether *this* connection
/// brought anything.
#[derive(Debug)]
pub(crate) struct Health {
    opened: Instant,
    /// Some line moved the version on. Lines that repeat what is known do not count: a
    /// server that answers every watch with one of them and hangs up is not well.
    brought_news: bool,
}

// === impl Backoff ===

impl Backoff {
    pub(crate) const FIRST: Duration = Duration::from_millis(800);
    pub(crate) const LAST: Duration = Duration::from_secs(15);
    /// The longest wait that a server may ask for: it cannot know better than this when it
    /// will be well, and a typo in a gateway must not blind a controller for a day.
    const LONGEST_ASKED: Duration = Duration::from_secs(300);

    /// More than this cannot be doubled, drawn from and added to every clock.
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

    /// With floors from `first` to `last`, a year at most.
    pub(crate) fn new(first: Duration, last: Duration) -> Self {
        let last = last.min(Self::LONGEST);
        Self {
            floor: first.min(last),
            first: first.min(last),
            last,
        }
    }

    /// The next wait, in `[floor, 2 × floor)`.
    pub(crate) fn next_wait(&mut self) -> Duration {
        let floor = self.floor;
        self.floor = (floor * 2).min(self.last);
        floor.mul_f64(rand::rng().random_range(1.0..2.0))
    }

    /// The next wait, and no less than what the server asked for. What was asked for is
    /// lengthened by up to a quarter: it asked all clients the same.
    pub(crate) fn next_wait_at_least(&mut self, asked: Option<Duration>) -> Duration {
        let asked = asked.unwrap_or_default().min(Self::LONGEST_ASKED);
        let asked = asked.mul_f64(rand::rng().random_range(1.0..1.25));
        self.next_wait().max(asked)
    }

    /// The longest wait at once: for what a person has to mend.
    pub(crate) fn slow_wait(&mut self) -> Duration {
        self.floor = self.last;
        self.next_wait()
    }

    /// The server was well for a while: the next failure starts at the shortest wait.
    pub(crate) fn reset(&mut self) {
        self.floor = self.first;
    }
}

// === impl Health ===

impl Health {
    /// A watch that was open this long without a word counts as healthy too.
    pub(crate) const QUIET: Duration = Duration::from_secs(60);

    pub(crate) fn opened_now() -> Self {
        Self {
            opened: Instant::now(),
            brought_news: false,
        }
    }

    /// An event or a bookmark arrived that says more than was known. What repeats the
    /// known, or cannot be read, is no sign of health: a gateway's login page is made of
    /// such lines.
    pub(crate) fn brought_news(&mut self) {
        self.brought_news = true;
    }

    pub(crate) fn is_healthy(&self) -> bool {
        self.brought_news || self.opened.elapsed() >= Self::QUIET
    }

    /// Whether the watch has been open for less than a second. If it ended so soon, and
    /// without news, opening the next one without a pause would be a hot loop.
    pub(crate) fn is_short(&self) -> bool {
        self.opened.elapsed() < Duration::from_secs(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Backoff {
        Backoff::new(Backoff::FIRST, Backoff::LAST)
    }

    /// BX-13: monotone to the cap, and no ramp restart by the clock.
    #[test]
    fn waits_double_up_to_thirty_seconds_and_stay_there() {
        let mut backoff = usual();
        for floor in [0.8, 1.6, 3.2, 6.4, 12.8, 15.0, 15.0, 15.0] {
            let wait = backoff.next_wait().as_secs_f64();
            assert!((floor..floor * 2.0).contains(&wait), "{wait} after {floor}");
        }
        backoff.reset();
        assert!(backoff.next_wait() < Duration::from_millis(1600));
    }

    #[test]
    fn no_wait_is_too_long_to_be_told() {
        let mut endless = Backoff::new(Duration::MAX, Duration::MAX);
        let wait = endless.next_wait().max(endless.slow_wait());
        assert!(wait >= Backoff::LONGEST && Instant::now().checked_add(wait).is_some());
    }

    #[test]
    fn a_server_that_asks_for_a_wait_gets_it_within_reason() {
        let wait = |asked| usual().next_wait_at_least(Some(Duration::from_secs(asked)));
        assert!((30.0..37.5).contains(&wait(30).as_secs_f64()));
        assert!((0.8..1.6).contains(&wait(0).as_secs_f64()));
        assert!((300.0..375.0).contains(&wait(86400).as_secs_f64()));
    }

    #[test]
    fn a_slow_wait_is_as_long_as_any() {
        let wait = usual().slow_wait().as_secs_f64();
        assert!((15.0..30.0).contains(&wait), "{wait}");
    }

    #[test]
    fn two_clients_do_not_wait_alike() {
        let waits: std::collections::HashSet<_> = (0..20).map(|_| usual().next_wait()).collect();
        assert!(waits.len() > 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_is_healthy_after_news_or_a_minute() {
        let mut health = Health::opened_now();
        assert!(health.is_short() && !health.is_healthy());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(!health.is_short() && !health.is_healthy());
        health.brought_news();
        assert!(health.is_healthy());
        let health = Health::opened_now();
        tokio::time::advance(Health::QUIET).await;
        assert!(health.is_healthy());
    }
}
