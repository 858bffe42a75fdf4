//! How long ago something was.

use jiff::Timestamp;
use serde_json::Value;

/// An object's age as kubectl prints it.
pub(crate) fn age(object: &Value, now: Timestamp) -> Value {
    since(&object["metadata"]["creationTimestamp"], now)
}

pub(super) fn since(time: &Value, now: Timestamp) -> Value {
    match time
        .as_str()
        .and_then(|time| time.parse::<Timestamp>().ok())
    {
        Some(time) => human_duration(now.as_second() - time.as_second()).into(),
        None => "<unknown>".into(),
    }
}

/// The time from one moment to another.
pub(super) fn between(from: &Value, to: &Value) -> Option<String> {
    let parse = |time: &Value| time.as_str()?.parse::<Timestamp>().ok();
    Some(human_duration(
        parse(to)?.as_second() - parse(from)?.as_second(),
    ))
}

/// `duration.HumanDuration` of apimachinery: at most two units, the second only while it matters.
fn human_duration(seconds: i64) -> String {
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_kubectl_prints_them() {
        for (seconds, text) in [
            (-90, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (3600, "60m"),
            (10_801, "3h"),
            (10_860, "3h1m"),
            (36_000, "10h"),
            (180_000, "2d2h"),
            (864_000, "10d"),
            (63_158_400, "2y1d"),
        ] {
            assert_eq!(human_duration(seconds), text);
        }
    }
}
