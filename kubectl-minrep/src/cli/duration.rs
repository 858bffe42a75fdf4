//! Durations as Go's `time.ParseDuration` reads them: `300ms`, `1h2m3.5s`, `0`.

use std::time::Duration;

use kube::core::duration::ParseError;

/// Go keeps a duration in a signed 64-bit count of nanoseconds: about 292 years.
const LONGEST: Duration = Duration::from_nanos(i64::MAX as u64);

/// A run of digits longer than this is out of range with every unit but the smallest,
/// and the parser below would overflow on it.
const MOST_DIGITS: usize = 15;

/// A duration that is not negative. `0` needs no unit.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let refuse = |why: &str| Err(format!("{why} (such as 300ms, 30s or 1h5m)"));
    let digits = |part: &str| part.len() > MOST_DIGITS;
    if text.is_empty() {
        return refuse("a duration is missing");
    }
    if text.split(|c: char| !c.is_ascii_digit()).any(digits) {
        return refuse("the duration is out of range");
    }
    match text.parse::<kube::core::Duration>() {
        Ok(duration) if duration.is_negative() => refuse("a duration cannot be negative"),
        Ok(duration) if Duration::from(duration) > LONGEST => {
            refuse("the duration is out of range")
        }
        Ok(duration) => Ok(duration.into()),
        // Its reason is about floating-point numbers, of which nobody thought.
        Err(ParseError::NotANumber(_)) => refuse("that is no duration"),
        Err(error) => Err(error.to_string()),
    }
}

/// A timeout as kubectl's `--request-timeout` takes it: bare digits are seconds.
pub(super) fn parse_timeout(text: &str) -> Result<Duration, String> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Duration::from_secs(seconds.into())),
        Err(_) => parse_duration(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        let parsed = |text: &str| parse_duration(text).unwrap();
        assert_eq!(parsed("0"), Duration::ZERO);
        assert_eq!(parsed("0s"), Duration::ZERO);
        assert_eq!(parsed("300ms"), Duration::from_millis(300));
        assert_eq!(parsed("1h2m3.5s"), Duration::from_millis(3_723_500));
        assert_eq!(parsed("1.5h30m"), Duration::from_secs(7200));
        assert_eq!(parsed("250us"), Duration::from_micros(250));
        assert_eq!(parsed(".5s"), Duration::from_millis(500));
        assert_eq!(parsed("+5s"), Duration::from_secs(5));
    }

    #[test]
    fn refuses_what_go_refuses_and_says_why() {
        let refused = |text: &str| parse_duration(text).unwrap_err();
        insta::assert_snapshot!(refused(""), @"a duration is missing (such as 300ms, 30s or 1h5m)");
        insta::assert_snapshot!(refused("30"), @"missing a unit: expected one of 'ns', 'us', 'µs', 'ms', 's', 'm', or 'h'");
        insta::assert_snapshot!(refused("5d"), @"invalid unit: expected one of 'ns', 'us', 'µs', 'ms', 's', 'm', or 'h'");
        insta::assert_snapshot!(refused("-5s"), @"a duration cannot be negative (such as 300ms, 30s or 1h5m)");
        for odd in ["s", "soon", "1h 2m", "1.2.3s", "٣s", " 5s"] {
            assert_eq!(
                refused(odd),
                "that is no duration (such as 300ms, 30s or 1h5m)",
                "{odd}"
            );
        }
        for huge in [
            "99999999999999999999h",
            "999999999999h",
            "9999999999999999m",
        ] {
            assert!(refused(huge).contains("out of range"), "{huge}");
        }
    }

    #[test]
    fn a_timeout_without_unit_is_in_seconds() {
        assert_eq!(parse_timeout("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_timeout("1m"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_timeout("0"), Ok(Duration::ZERO));
        assert!(parse_timeout("soon").is_err());
    }
}
