//! Fights: two programs that write one number, each by its own rule in the right.
//!
//! Neither can win, and each round costs the cluster a rollout of Pods. So we keep asking, for
//! the other side may be mended, but ever more seldom. Pure: whoever calls says what time
//! it is.

use std::collections::VecDeque;

use hashbrown::HashMap;
use tokio::time::{Duration, Instant};

use super::opponent::Opponent;
use crate::client::ObjectKey;

/// This many raises of one object …
const RAISES: usize = 3;

/// … within this long are a fight.
const WITHIN: Duration = Duration::from_secs(10 * 60);

/// The wait after the raise that made it a fight; each further raise doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(60);

/// The longest wait between two raises of a fight.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// Without a raise for this long a fight is over.
const QUIET: Duration = Duration::from_secs(2 * 60 * 60);

/// A fight, as far as a decision rests on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// How long after the last raise the next one comes.
    pub wait: Duration,
    /// Who owns the number.
    pub opponent: Opponent,
}

/// Who raised what, and how often, lately.
///
/// One entry for each Deployment that was raised within the last 10 minutes, or in whose
/// fight something happened within the last 2 hours.
#[derive(Debug, Default)]
pub(super) struct Fights {
    of: HashMap<ObjectKey, Fight>,
    swept: Option<Instant>,
}

/// A hold that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holding {
    pub(super) hold: Hold,
    /// What is left of the wait.
    pub(super) remaining: Duration,
    /// Whether somebody has looked for the opponent in this round.
    pub(super) looked: bool,
}

/// What was known of an object before a raise, to be put back if nothing came of it.
#[derive(Debug, Default)]
pub(super) struct Before(Option<Fight>);

/// The raises of one object. It is the uid that counts: an object of the same name is
/// another one.
#[derive(Clone, Debug)]
struct Fight {
    uid: String,
    last: Instant,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    /// The raises within [`WITHIN`].
    Calm(VecDeque<Instant>),
    Fighting {
        /// How many raises there were since it became a fight.
        rounds: u32,
        /// Set once somebody has begun to look in this round.
        opponent: Option<Opponent>,
    },
}

// === impl Fights ===

impl Fights {
    /// A raise of this object is being sent: it may be applied even if no answer comes.
    pub(super) fn raised(&mut self, key: &ObjectKey, uid: &str, now: Instant) -> Before {
        self.sweep(now);
        let before = self.of.remove(key);
        let mut fight = before
            .clone()
            .filter(|fight| fight.uid == uid && !fight.is_over(now))
            .unwrap_or_else(|| Fight::new(uid, now));
        fight.raised(now);
        self.of.insert(key.clone(), fight);
        Before(before)
    }

    /// The server has refused that raise.
    pub(super) fn put_back(&mut self, key: &ObjectKey, before: Before) {
        match before.0 {
            Some(fight) => self.of.insert(key.clone(), fight),
            None => self.of.remove(key),
        };
    }

    /// The fight over this object, if there is one and its wait is not over.
    pub(super) fn holding(&self, key: &ObjectKey, uid: &str, now: Instant) -> Option<Holding> {
        let fight = self.of.get(key).filter(|fight| fight.uid == uid)?;
        let Stage::Fighting { rounds, opponent } = &fight.stage else {
            return None;
        };
        let wait = wait_after(*rounds);
        let remaining = (fight.last + wait).checked_duration_since(now)?;
        (!remaining.is_zero()).then(|| Holding {
            hold: Hold {
                wait,
                opponent: opponent.clone().unwrap_or_default(),
            },
            remaining,
            looked: opponent.is_some(),
        })
    }

    /// Remembers, for this round, who owns the number.
    pub(super) fn name_opponent(&mut self, key: &ObjectKey, uid: &str, found: Opponent) {
        if let Some(fight) = self.of.get_mut(key)
            && fight.uid == uid
            && let Stage::Fighting { opponent, .. } = &mut fight.stage
        {
            *opponent = Some(found);
        }
    }

    /// The object is gone.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        self.of.remove(key);
    }

    /// Forgets what can no longer matter, now and then.
    fn sweep(&mut self, now: Instant) {
        let due = self
            .swept
            .is_none_or(|swept| now.duration_since(swept) >= WITHIN);
        if due {
            self.swept = Some(now);
            self.of.retain(|_, fight| !fight.is_over(now));
        }
    }
}

// === impl Fight ===

impl Fight {
    fn new(uid: &str, now: Instant) -> Self {
        Self {
            uid: uid.to_owned(),
            last: now,
            stage: Stage::Calm(VecDeque::new()),
        }
    }

    fn raised(&mut self, now: Instant) {
        self.last = now;
        match &mut self.stage {
            Stage::Calm(recent) => {
                recent.retain(|raise| now.duration_since(*raise) <= WITHIN);
                recent.push_back(now);
                if recent.len() >= RAISES {
                    self.stage = Stage::Fighting {
                        rounds: 0,
                        opponent: None,
                    };
                }
            }
            Stage::Fighting { rounds, opponent } => {
                *rounds = rounds.saturating_add(1);
                *opponent = None;
            }
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        let since = now.duration_since(self.last);
        match self.stage {
            Stage::Calm(_) => since > WITHIN,
            Stage::Fighting { .. } => since >= QUIET,
        }
    }
}

fn wait_after(rounds: u32) -> Duration {
    // 2⁶ minutes are beyond the longest wait already.
    (FIRST_WAIT * 2u32.pow(rounds.min(6))).min(LONGEST_WAIT)
}

#[cfg(test)]
mod explored;
#[cfg(test)]
mod tests;
