use serde::Serialize;

/// The rounds of one subject in one case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Stats {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

/// From which spread on a median says little.
const WIDE: f64 = 0.25;

// === impl Stats ===

impl Stats {
    /// `None` without samples.
    pub(super) fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Self { median, min, max })
    }

    /// Do the rounds differ so much that the machine was hardly idle?
    pub(super) fn is_wide(&self) -> bool {
        (self.max - self.min) / self.median > WIDE
    }
}
