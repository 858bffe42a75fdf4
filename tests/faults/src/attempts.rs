//! Which of the matching requests a rule is about.

use std::{
    ops::{Range, RangeFrom, RangeInclusive},
    str::FromStr,
};

/// A set of attempts, counted from 1: the first matching request is attempt 1.
///
/// Built from a number (`3`: only the third), a Rust range (`1..3`: the first two, `1..=3`: three of them,
/// `4..`: from the fourth on) or, in a script, from the same words as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    first: u64,
    /// Inclusive; `u64::MAX` is "for ever".
    last: u64,
}

// === impl Attempts ===

impl Attempts {
    /// Every attempt.
    pub const ALL: Self = Self {
        first: 1,
        last: u64::MAX,
    };

    /// Whether the `nth` attempt, counted from 1, is in the set.
    #[must_use]
    pub const fn contains(self, nth: u64) -> bool {
        self.first <= nth && nth <= self.last
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Self::ALL
    }
}

impl From<u64> for Attempts {
    fn from(nth: u64) -> Self {
        Self {
            first: nth,
            last: nth,
        }
    }
}

impl From<Range<u64>> for Attempts {
    fn from(range: Range<u64>) -> Self {
        Self {
            first: range.start,
            last: range.end.saturating_sub(1),
        }
    }
}

impl From<RangeInclusive<u64>> for Attempts {
    fn from(range: RangeInclusive<u64>) -> Self {
        Self {
            first: *range.start(),
            last: *range.end(),
        }
    }
}

impl From<RangeFrom<u64>> for Attempts {
    fn from(range: RangeFrom<u64>) -> Self {
        Self {
            first: range.start,
            last: u64::MAX,
        }
    }
}

impl FromStr for Attempts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| {
            part.trim().parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| {
                format!("`{text}` is no set of attempts; write 3, 1..3, 1..=3 or 4.., counted from 1")
            })
        };
        let attempts = match text.split_once("..") {
            None if text.trim() == "all" => Self::ALL,
            None => number(text)?.into(),
            Some((first, "")) => (number(first)?..).into(),
            Some((first, last)) => match last.strip_prefix('=') {
                Some(last) => (number(first)?..=number(last)?).into(),
                None => (number(first)?..number(last)?).into(),
            },
        };
        if attempts.first > attempts.last {
            return Err(format!("`{text}` holds no attempt"));
        }
        Ok(attempts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Vec<u64> {
        let attempts: Attempts = text.parse().unwrap();
        (1..=5).filter(|nth| attempts.contains(*nth)).collect()
    }

    #[test]
    fn ranges_read_as_in_rust() {
        assert_eq!(members("3"), [3]);
        assert_eq!(members("1..3"), [1, 2]);
        assert_eq!(members("1..=3"), [1, 2, 3]);
        assert_eq!(members("4.."), [4, 5]);
        assert_eq!(members("all"), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_holds_no_attempt_is_refused() {
        for text in ["0", "0..3", "3..3", "two", "..3", ""] {
            assert!(text.parse::<Attempts>().is_err(), "{text}");
        }
    }
}
