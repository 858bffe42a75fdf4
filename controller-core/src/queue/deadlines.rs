use std::time::Duration;

use super::{Band, Clock, Due, Id, Nanos, Place, State};

/// If so many keys are due at once, there may be many more.
const FEW: usize = 16;

// === impl State ===

impl<T> State<T> {
    /// When the next delayed key is due.
    pub(in super::super) fn earliest(&self) -> Option<Nanos> {
        self.deadlines.first_key_value().map(|(due, _)| due.at)
    }

    /// Puts in line what is due, in the order of the deadlines.
    #[inline]
    pub(in super::super) fn promote(&mut self, clock: &mut Clock) {
        if !self.deadlines.is_empty() {
            self.promote_due(clock);
        }
    }

    fn promote_due(&mut self, clock: &mut Clock) {
        let now = clock.now();
        for _ in 0..FEW {
            match self.deadlines.first_entry() {
                Some(first) if first.key().at <= now => {
                    let (due, id) = first.remove_entry();
                    self.come_due(id, due, clock);
                }
                _ => return,
            }
        }
        // To cut the map in two costs more than one removal, but far less than thousands.
        let later = Due {
            at: now + 1,
            order: 0,
        };
        let later = self.deadlines.split_off(&later);
        for (due, id) in std::mem::replace(&mut self.deadlines, later) {
            self.come_due(id, due, clock);
        }
    }

    /// Puts the key, which is none of the deadlines any more, in line.
    fn come_due(&mut self, id: Id, due: Due, clock: &Clock) {
        let Place::Delayed { band, .. } = self.entries.place(id) else {
            unreachable!("invariant: `deadlines` holds the delayed keys")
        };
        self.counts.adds += 1;
        self.push(id, band, clock.stamp_at(due.at));
    }

    /// Has a key that is in no line wait until then.
    pub(super) fn delay(&mut self, id: Id, band: Band, due: Due) {
        let Due { at, order } = due;
        self.entries.set_since(id, at);
        *self.entries.place_mut(id) = Place::Delayed { band, order };
        self.deadlines.insert(due, id);
    }

    pub(super) fn undelay(&mut self, id: Id, order: u64) {
        let at = self.entries.since(id);
        self.deadlines
            .remove(&Due { at, order })
            .expect("invariant: `deadlines` holds the delayed keys");
    }

    pub(super) fn due(&mut self, delay: Duration, clock: &mut Clock) -> Due {
        self.next_order += 1;
        Due {
            at: clock.after(delay),
            order: self.next_order,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::super::{Incoming, Policy};
    use super::*;

    const LATER: usize = 3;

    /// One key after the other is delayed to an earlier time, but each pair to the same.
    fn delayed(due: usize) -> (State<usize>, Vec<usize>) {
        let mut state = State::new();
        let mut clock = Clock::at(1);
        for key in 0..due + LATER {
            let delay = if key < due {
                due - key / 2
            } else {
                1_000 + key
            };
            let delay = Duration::from_secs(delay as u64);
            let item = &mut Incoming::new(Cow::Owned(key));
            state.add_after(key as u32, item, delay, Policy::Earliest, &mut clock);
        }
        let mut expected: Vec<_> = (0..due).collect();
        expected.sort_by_key(|key| due - key / 2);
        (state, expected)
    }

    /// However many they are, and so by whichever of the two ways.
    #[test]
    fn keys_that_are_due_go_in_line_in_the_order_of_their_deadlines() {
        for due in [0, 1, FEW - 1, FEW, FEW + 1, 10 * FEW] {
            let (mut state, expected) = delayed(due);
            let last = Duration::from_secs(due as u64).as_nanos() as u64;
            let mut clock = Clock::at(1 + last);
            state.promote(&mut clock);
            let served: Vec<_> = std::iter::from_fn(|| state.take(&mut clock))
                .map(|taken| taken.item)
                .collect();
            assert_eq!(served, expected, "{due}");
            assert_eq!(state.depth().delayed, LATER, "{due}");
            assert_eq!(state.counts.adds, due as u64);
        }
    }

    /// Ends of one millisecond are one end, whichever was asked for first.
    #[test]
    fn deadlines_are_the_next_whole_millisecond() {
        let mut state = State::<usize>::new();
        let delays = [1_000_000, 999_999, 1, 1_000_001, 2_000_000, 500_000];
        for (key, nanos) in delays.into_iter().enumerate() {
            let delay = Duration::from_nanos(nanos);
            let item = &mut Incoming::new(Cow::Owned(key));
            state.add_after(key as u32, item, delay, Policy::Earliest, &mut Clock::at(1));
        }
        let mut keys_due = |nanos: Nanos| -> Vec<usize> {
            let mut clock = Clock::at(1 + nanos);
            state.promote(&mut clock);
            std::iter::from_fn(|| state.take(&mut clock))
                .map(|taken| taken.item)
                .collect()
        };
        assert_eq!(keys_due(999_999), [0; 0]);
        assert_eq!(keys_due(1_000_000), [0, 1, 2, 5]);
        assert_eq!(keys_due(2_000_000), [3, 4]);
    }

    /// A nanosecond too early is too early.
    #[test]
    fn the_instant_itself_is_due_and_the_one_before_is_not() {
        for keys in [1, 10 * FEW] {
            let mut state = State::<usize>::new();
            for key in 0..keys {
                let delay = Duration::from_secs(1);
                let item = &mut Incoming::new(Cow::Owned(key));
                state.add_after(key as u32, item, delay, Policy::Earliest, &mut Clock::at(1));
            }
            state.promote(&mut Clock::at(1_000_000_000));
            assert_eq!(state.len(), 0);
            state.promote(&mut Clock::at(1_000_000_001));
            assert_eq!(state.len(), keys);
        }
    }
}
