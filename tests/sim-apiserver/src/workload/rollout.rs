//! How many Pods of the old templates and of the new one there shall be, by the Deployment's strategy.

use serde_json::Value;

use super::owner::count;

/// What a Deployment wants, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strategy {
    pub(super) desired: i64,
    /// How many more there may be.
    pub(super) surge: i64,
    /// How many of the desired may be unavailable.
    pub(super) unavailable: i64,
    /// All old ones go before a new one comes.
    pub(super) recreate: bool,
}

/// One ReplicaSet, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) wanted: i64,
    pub(super) there: i64,
    pub(super) available: i64,
}

// === impl Strategy ===

impl Strategy {
    pub(super) fn of(deployment: &Value) -> Self {
        let spec = &deployment["spec"];
        let desired = count(&spec["replicas"]);
        if spec["strategy"]["type"] == "Recreate" {
            return Self {
                desired,
                surge: 0,
                unavailable: desired,
                recreate: true,
            };
        }
        let rolling = &spec["strategy"]["rollingUpdate"];
        let surge = share(&rolling["maxSurge"], desired, true);
        let unavailable = share(&rolling["maxUnavailable"], desired, false).min(desired);
        Self {
            desired,
            surge,
            // Both at zero would never move.
            unavailable: if surge == 0 {
                unavailable.max(1)
            } else {
                unavailable
            },
            recreate: false,
        }
    }

    /// How many Pods there may be in all.
    pub(super) fn most(&self) -> i64 {
        self.desired + self.surge
    }

    /// How many Pods have to be available.
    pub(super) fn least_available(&self) -> i64 {
        (self.desired - self.unavailable).max(0)
    }

    /// The next size of the ReplicaSet with the present template.
    pub(super) fn next_new(&self, new: Size, old: &[Size]) -> i64 {
        if new.wanted >= self.desired {
            return self.desired;
        }
        let old_wanted: i64 = old.iter().map(|size| size.wanted).sum();
        if self.recreate {
            let old_there: i64 = old.iter().map(|size| size.there).sum();
            return if old_wanted + old_there == 0 {
                self.desired
            } else {
                new.wanted
            };
        }
        let room = self.most() - new.wanted - old_wanted;
        new.wanted + room.clamp(0, self.desired - new.wanted)
    }

    /// The next sizes of the others, in their order: what serves nobody goes first, then as many as the new
    /// ones can stand in for.
    pub(super) fn next_old(&self, new: Size, old: &[Size]) -> Vec<i64> {
        if self.recreate {
            return vec![0; old.len()];
        }
        let wanted: i64 = new.wanted + old.iter().map(|size| size.wanted).sum::<i64>();
        let waiting = (new.wanted - new.available).max(0);
        let mut spare = wanted - self.least_available() - waiting;
        let available: i64 = new.available + old.iter().map(|size| size.available).sum::<i64>();
        let mut spare_available = available - self.least_available();
        let mut next = Vec::new();
        for size in old {
            let idle = (size.wanted - size.available).clamp(0, spare.max(0));
            spare -= idle;
            let serving = (size.wanted - idle).clamp(0, spare.min(spare_available).max(0));
            spare -= serving;
            spare_available -= serving;
            next.push(size.wanted - idle - serving);
        }
        next
    }
}

/// A number, or a percentage of the desired replicas.
fn share(value: &Value, of: i64, up: bool) -> i64 {
    match value {
        Value::String(text) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or(0);
            let product = of * percent;
            if up {
                (product + 99) / 100
            } else {
                product / 100
            }
        }
        number => count(number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn size(wanted: i64, available: i64) -> Size {
        Size {
            wanted,
            there: wanted,
            available,
        }
    }

    fn strategy(replicas: i64, rolling: &Value) -> Strategy {
        Strategy::of(
            &json!({"spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate",
            "rollingUpdate": rolling}}}),
        )
    }

    #[test]
    fn a_rollout_goes_step_by_step_and_never_below_its_limits() {
        let quarter = strategy(4, &json!({"maxSurge": "25%", "maxUnavailable": "25%"}));
        assert_eq!((quarter.most(), quarter.least_available()), (5, 3));
        let (mut new, mut old) = (size(0, 0), size(4, 4));
        let mut steps = Vec::new();
        while old.wanted > 0 || new.wanted < 4 {
            let wanted = quarter.next_new(new, &[old]);
            new = Size {
                wanted,
                there: wanted,
                ..new
            };
            let wanted = quarter.next_old(new, &[old])[0];
            old = size(wanted, wanted.min(old.available));
            steps.push((new.wanted, old.wanted));
            assert!(new.wanted + old.wanted <= 5 && new.available + old.available >= 3);
            // The new ones become available before the next look.
            new.available = new.wanted;
            assert!(steps.len() < 10, "{steps:?}");
        }
        assert_eq!(steps, [(1, 3), (2, 2), (3, 1), (4, 0)]);
    }

    #[test]
    fn what_was_never_available_goes_first() {
        let all = strategy(2, &json!({"maxSurge": 1, "maxUnavailable": 0}));
        assert_eq!(all.next_old(size(1, 0), &[size(1, 0), size(2, 2)]), [0, 2]);
        // A new one that is not there yet stands in for nobody, not even for an idle one.
        let quarter = strategy(4, &json!({"maxSurge": "25%", "maxUnavailable": "25%"}));
        assert_eq!(quarter.next_old(size(1, 0), &[size(4, 2)]), [3]);
    }

    #[test]
    fn recreating_waits_until_the_old_ones_are_gone() {
        let recreate =
            Strategy::of(&json!({"spec": {"replicas": 3, "strategy": {"type": "Recreate"}}}));
        assert_eq!(recreate.next_old(size(0, 0), &[size(3, 3)]), [0]);
        let leaving = Size {
            wanted: 0,
            there: 2,
            available: 2,
        };
        assert_eq!(recreate.next_new(size(0, 0), &[leaving]), 0);
        assert_eq!(recreate.next_new(size(0, 0), &[size(0, 0)]), 3);
    }

    #[test]
    fn limits_of_zero_still_let_a_rollout_move() {
        let stuck = strategy(3, &json!({"maxSurge": 0, "maxUnavailable": 0}));
        assert_eq!((stuck.surge, stuck.unavailable), (0, 1));
    }
}
