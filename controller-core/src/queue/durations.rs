use std::time::Duration;

/// How long something took, time after time: a histogram with the buckets of
/// controller-runtime's work queue metrics, 10 ns to 1,000 s by powers of ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// How many took no longer than the bound of the same number, and longer than the one
    /// before. The last are those above all bounds.
    counts: [u64; BOUNDS.len()],
    sum: Duration,
}

/// In seconds.
const BOUNDS: [f64; 13] = [
    1e-8,
    1e-7,
    1e-6,
    1e-5,
    1e-4,
    1e-3,
    1e-2,
    1e-1,
    1.0,
    1e1,
    1e2,
    1e3,
    f64::INFINITY,
];

/// The first bound, in nanoseconds.
const FIRST: u128 = 10;

// === impl Durations ===

impl Durations {
    /// How often it was measured.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All that was measured, together.
    pub const fn sum(&self) -> Duration {
        self.sum
    }

    /// Of each bucket, its upper bound in seconds, which is part of it, and how often a time
    /// fell into this bucket and no lower one. The last bound is infinite.
    pub fn buckets(&self) -> impl ExactSizeIterator<Item = (f64, u64)> {
        BOUNDS.into_iter().zip(self.counts)
    }

    pub(super) fn observe(&mut self, time: Duration) {
        let mut bound = FIRST;
        let mut at = 0;
        while at + 1 < BOUNDS.len() && time.as_nanos() > bound {
            bound *= 10;
            at += 1;
        }
        self.counts[at] += 1;
        self.sum = self.sum.saturating_add(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_part_of_its_bucket() {
        let mut times = Durations::default();
        for nanos in [0, 10, 11, 100, 1_000_000_000] {
            times.observe(Duration::from_nanos(nanos));
        }
        times.observe(Duration::from_secs(1_000));
        times.observe(Duration::from_secs(1_001));
        let filled: Vec<_> = times.buckets().filter(|it| it.1 > 0).collect();
        assert_eq!(
            filled,
            [(1e-8, 2), (1e-7, 2), (1.0, 1), (1e3, 1), (f64::INFINITY, 1)]
        );
        assert_eq!(times.buckets().len(), 13);
        assert_eq!(times.count(), 7);
        assert_eq!(times.sum(), Duration::from_nanos(2_002_000_000_121));
    }
}
