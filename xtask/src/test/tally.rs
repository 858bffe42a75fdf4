use std::ops::AddAssign;

/// How many tests passed and how many did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Ran to a good end.
    pub(crate) passed: usize,
    /// Failed, hung, or could not be built.
    pub(crate) failed: usize,
}

// === impl Tally ===

impl Tally {
    /// Reads one line of a test runner's output; most lines say nothing and give `None`.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        if let Some(rest) = line.strip_prefix("test result: ") {
            return of_libtest(rest);
        }
        // nextest indents its own lines, and with them what a failed test has written.
        let rest = line.trim_start().strip_prefix("Summary [")?;
        of_nextest(rest)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// `ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s`
fn of_libtest(rest: &str) -> Option<Tally> {
    Some(Tally {
        passed: number_before(rest, " passed")?,
        failed: number_before(rest, " failed")?,
    })
}

/// `   0.656s] 30 tests run: 28 passed (1 slow), 1 failed, 1 timed out, 10 skipped`;
/// `12/30 tests run` when the run was cut short.
fn of_nextest(rest: &str) -> Option<Tally> {
    let (_, rest) = rest.split_once("] ")?;
    let (count, results) = rest.split_once(" test")?;
    let (_, results) = results.split_once(" run: ")?;
    let total: usize = count.rsplit('/').next()?.parse().ok()?;
    let passed = number_before(results, " passed")?;
    Some(Tally {
        passed,
        failed: total.checked_sub(passed)?,
    })
}

/// The number that stands right before `word`.
fn number_before(text: &str, word: &str) -> Option<usize> {
    let (before, _) = text.split_once(word)?;
    let digits = before.rfind(|c: char| !c.is_ascii_digit());
    before[digits.map_or(0, |at| at + 1)..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(usize, usize)> {
        Tally::of_line(line).map(|tally| (tally.passed, tally.failed))
    }

    #[test]
    fn both_runners_are_read() {
        assert_eq!(
            read(
                "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s"
            ),
            Some((5, 0))
        );
        assert_eq!(
            read("test result: FAILED. 1 passed; 2 failed; 0 ignored"),
            Some((1, 2))
        );
        assert_eq!(
            read("     Summary [   0.656s] 28 tests run: 28 passed, 10 skipped"),
            Some((28, 0))
        );
        assert_eq!(
            read("     Summary [   1.0s] 1 test run: 1 passed, 0 skipped"),
            Some((1, 0))
        );
    }

    #[test]
    fn whatever_did_not_pass_failed() {
        assert_eq!(
            read(
                "     Summary [  9.1s] 30 tests run: 26 passed (1 slow), 2 failed, 2 timed out, 0 skipped"
            ),
            Some((26, 4))
        );
        assert_eq!(
            read("     Summary [  9.1s] 12/30 tests run: 11 passed, 1 failed"),
            Some((11, 19))
        );
    }

    #[test]
    fn other_lines_say_nothing() {
        assert_eq!(read("        PASS [   0.010s] ( 4/28) xtask a::b"), None);
        assert_eq!(read("running 5 tests"), None);
        // Quoted by nextest, which counts this failure itself.
        assert_eq!(
            read("    test result: FAILED. 0 passed; 1 failed; 0 ignored"),
            None
        );
    }
}
