use rand::RngExt;
use tokio::time::{Duration, Instant};

/// When a watch last said anything, over all watches, and whether that is too long ago.
///
/// A watch that opens and is cut after a while costs nothing but the next one, be it a thousand
/// times: that is what a balancer does to a quiet connection. But a proxy that holds back what
/// it ought to pass on looks the same, and then nothing is ever told. So a list has to tell
/// now and then what watches do not.
///
/// A word may also be an old one: a proxy that keeps an answer gives it again to each watch from
/// the same version, and the version never moves. A quiet server repeats itself too, so that
/// such words count, but not for ever.
///
/// Each time is drawn evenly between the one below and twice that, anew with each list: a proxy
/// in front of many clients cuts them all.
#[derive(Debug)]
pub(super) struct Hearing {
    last_word: Instant,
    last_news: Instant,
    factor: f64,
}

// === impl Hearing ===

impl Hearing {
    /// Without a word, where watches are cut before their time.
    const CUT: Duration = Duration::from_secs(300);
    /// Without news. So long also without a word, where it is the server that ends watches, as
    /// it was told to: one that sends no bookmarks has nothing to say of a kind in which nothing
    /// happens.
    const WHOLE: Duration = Duration::from_secs(1800);

    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            last_word: now,
            last_news: now,
            factor: rand::rng().random_range(1.0..2.0),
        }
    }

    /// A watch said something that can be read. `is_news` if the version moved with it.
    pub(super) fn heard(&mut self, at: Instant, is_news: bool) {
        self.last_word = at;
        if is_news {
            self.last_news = at;
        }
    }

    /// Whether there has been no word, or no news, for so long that only a list can tell.
    /// `is_whole` if the last watch lived for as long as it was to.
    pub(super) fn is_overdue(&self, is_whole: bool) -> bool {
        let is_past =
            |since: Instant, least: Duration| since.elapsed() >= least.mul_f64(self.factor);
        is_past(self.last_news, Self::WHOLE) || !is_whole && is_past(self.last_word, Self::CUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_word_is_due_every_five_to_ten_minutes_and_less_often_of_whole_watches() {
        for (is_whole, least) in [(false, 300), (true, 1800)] {
            let mut hearing = Hearing::new();
            for _ in 0..2 {
                tokio::time::advance(Duration::from_secs(least) - Duration::from_millis(1)).await;
                assert!(!hearing.is_overdue(is_whole));
                tokio::time::advance(Duration::from_secs(least)).await;
                assert!(hearing.is_overdue(is_whole));
                hearing.heard(Instant::now(), true);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn words_without_news_suffice_for_half_an_hour_to_an_hour() {
        for is_whole in [false, true] {
            let mut hearing = Hearing::new();
            let mut minutes = 0;
            while !hearing.is_overdue(is_whole) {
                tokio::time::advance(Duration::from_secs(60)).await;
                hearing.heard(Instant::now(), false);
                minutes += 1;
            }
            assert!((30..=60).contains(&minutes), "{minutes}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn two_clients_are_not_due_alike() {
        let all: Vec<_> = (0..30).map(|_| Hearing::new()).collect();
        tokio::time::advance(Hearing::CUT * 3 / 2).await;
        let due = all.iter().filter(|it| it.is_overdue(false)).count();
        assert!((1..30).contains(&due), "{due}");
    }
}
