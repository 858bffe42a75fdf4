use std::time::Duration;

use tokio::time::Instant;

/// How well a handler keeps up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How many entries it has not heard, and the one that it is hearing.
    pub(crate) pending: usize,
    /// How long ago the oldest of them arrived, at most.
    pub(crate) lag: Duration,
    /// The longest of its calls, be it under way.
    pub(crate) longest_call: Duration,
}

/// Notices when a handler falls behind and when it has caught up: once each, however often
/// somebody looks.
#[derive(Debug, Default)]
pub(crate) struct Episode {
    behind_since: Option<Instant>,
}

/// What is worth a line in the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    FellBehind,
    CaughtUp {
        /// How long it was behind.
        after: Duration,
    },
}

// === impl Episode ===

impl Episode {
    /// A handler that only enqueues takes microseconds for a call. One that takes as long as
    /// this waits for something, and holds a thread of the runtime meanwhile.
    const LONG_CALL: Duration = Duration::from_secs(1);
    /// Long enough for the first list of a large cluster.
    const LONG_LAG: Duration = Duration::from_secs(5);
    /// Below this it has caught up. Lower than the other, or the two lines would alternate.
    const SHORT_LAG: Duration = Duration::from_secs(1);

    pub(crate) fn look(&mut self, pace: Pace) -> Option<Turn> {
        let slow_call = pace.longest_call >= Self::LONG_CALL;
        match self.behind_since {
            None if slow_call || pace.lag >= Self::LONG_LAG => {
                self.behind_since = Some(Instant::now());
                Some(Turn::FellBehind)
            }
            Some(since) if !slow_call && pace.lag < Self::SHORT_LAG => {
                self.behind_since = None;
                let after = since.elapsed();
                Some(Turn::CaughtUp { after })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(lag: u64, longest_call: u64) -> Pace {
        Pace {
            pending: 1,
            lag: Duration::from_millis(lag),
            longest_call: Duration::from_millis(longest_call),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_episode_is_told_at_its_beginning_and_at_its_end() {
        let mut episode = Episode::default();
        let second = Duration::from_secs(1);
        let mut told = Vec::new();
        for (lag, call) in [
            (4_999, 0),     // a first list
            (0, 999),       // nearly
            (1_500, 1_500), // one long call
            (2_500, 2_500), // the same one
            (1_200, 0),     // over, but something waits
            (0, 0),         // caught up
            (0, 0),
            (5_000, 10), // many calls, none of them long
            (900, 1_100),
            (900, 10),
        ] {
            told.push(episode.look(pace(lag, call)));
            tokio::time::advance(second).await;
        }
        let after = |seconds| {
            let after = Duration::from_secs(seconds);
            Some(Turn::CaughtUp { after })
        };
        let fell = || Some(Turn::FellBehind);
        let first = [None, None, fell(), None, None, after(3), None];
        assert_eq!(told[..7], first);
        assert_eq!(told[7..], [fell(), None, after(2)]);
    }
}
