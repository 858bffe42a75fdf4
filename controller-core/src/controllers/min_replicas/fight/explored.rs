//! Everything that an opponent can do to us in forty minutes, in steps of 6 and 30
//! minutes.

use stateright::{Checker, Model, Property};

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// How long it is watched, in minutes.
const HORIZON: u64 = 40;

#[derive(Clone, Debug)]
struct Opponents {
    start: Instant,
}

/// Times are minutes since the start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Contest {
    now: u64,
    /// Below the minimum.
    low: bool,
    raises: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    OpponentLowers,
    /// Nobody does anything for so long.
    Passes(u64),
    WeRaise,
}

// === impl Opponents ===

impl Opponents {
    /// What is left of our wait, in whole minutes.
    fn wait(&self, contest: &Contest) -> Option<u64> {
        let key = ObjectKey::namespaced("shop", "web");
        let at = |minute: u64| self.start + MINUTE * u32::try_from(minute).unwrap();
        let mut fights = Fights::default();
        for raise in &contest.raises {
            fights.raised(&key, "uid", at(*raise));
        }
        let holding = fights.holding(&key, "uid", at(contest.now))?;
        Some(holding.remaining.as_secs().div_ceil(60))
    }
}

impl Model for Opponents {
    type State = Contest;
    type Action = Step;

    fn init_states(&self) -> Vec<Contest> {
        vec![Contest {
            now: 0,
            low: true,
            raises: Vec::new(),
        }]
    }

    fn actions(&self, contest: &Contest, steps: &mut Vec<Step>) {
        if contest.now >= HORIZON {
            return;
        }
        if !contest.low {
            steps.push(Step::OpponentLowers);
            steps.extend([6, 30].map(Step::Passes));
        } else if let Some(wait) = self.wait(contest) {
            steps.push(Step::Passes(wait));
        } else {
            // We never wait without a reason.
            steps.push(Step::WeRaise);
        }
    }

    fn next_state(&self, contest: &Contest, step: Step) -> Option<Contest> {
        let mut next = contest.clone();
        match step {
            Step::OpponentLowers => next.low = true,
            Step::Passes(minutes) => next.now += minutes,
            Step::WeRaise => {
                next.low = false;
                next.raises.push(next.now);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            // Three make it a fight, and then it waits 1, 2 and 4 minutes.
            Property::always(
                "at most six raises in any ten minutes",
                |_, contest: &Contest| {
                    contest
                        .raises
                        .windows(7)
                        .all(|seven| seven[6] - seven[0] > 9)
                },
            ),
            Property::always(
                "against whoever lowers at once few writes are left",
                |_, contest: &Contest| {
                    // Three at once, and then after 1, 2, 4, 8, 16 and 32 minutes.
                    let at_once = contest.raises.get(2).is_some_and(|third| *third == 0);
                    !at_once || contest.raises.len() <= 3 + 6
                },
            ),
            Property::always(
                "no opponent gets more than two raises in ten minutes for long",
                |_, contest: &Contest| contest.raises.len() as u64 <= 6 + contest.now / 5,
            ),
            Property::sometimes(
                "a wait of a quarter of an hour",
                |opponents: &Self, contest: &Contest| {
                    opponents.wait(contest).is_some_and(|wait| wait >= 16)
                },
            ),
        ]
    }
}

/// Whatever the opponent does, and whenever: writes are bounded.
#[test]
fn against_every_opponent_writes_are_bounded() {
    let opponents = Opponents {
        start: Instant::now(),
    };
    let checker = opponents.checker().spawn_bfs().join();
    checker.assert_properties();
    assert!(checker.unique_state_count() > 100);
}
