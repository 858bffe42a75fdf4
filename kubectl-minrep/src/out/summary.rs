//! The last line of a command: always the same words, so that it can be searched for.

use std::fmt::Write as _;
use std::time::Duration;

use controller_core::controllers::min_replicas::{DryRun, Tally};
use controller_core::runtime::RunSummary;
use controller_core::write::events::{DropReason, EventCounts};

use super::counted::counted;
use super::pass::Pass;

/// `Reconciled 412 Deployments in 3.1s: 2 raised, 1 failed, 6 skipped, 403 already satisfied`.
pub(crate) fn pass_summary(pass: &Pass) -> String {
    let counts = pass.counts();
    let verb = match pass.timed_out {
        _ if pass.interrupted => "Interrupted: reconciled",
        Some(_) => "Timed out: reconciled",
        None => "Reconciled",
    };
    let done = counts.considered - counts.not_sent - counts.withheld;
    let mut line = format!(
        "{verb} {} in {}: ",
        counted(done, "Deployment"),
        took(pass.elapsed)
    );
    let _ = match pass.dry_run {
        DryRun::None => write!(line, "{} raised", counts.raised),
        DryRun::Client | DryRun::Server => write!(line, "would raise {}", counts.would_raise),
    };
    let _ = write!(
        line,
        ", {} failed, {} skipped, {} already satisfied",
        counts.failed, counts.skipped, counts.satisfied
    );
    for (count, what) in [
        (counts.not_found, "not found"),
        (counts.not_sent, "not sent"),
        (counts.withheld, "withheld"),
        (pass.not_looked_at, "not looked at"),
        (pass.unanswered, "sent and not answered"),
    ] {
        if count > 0 {
            let _ = write!(line, ", {count} {what}");
        }
    }
    line + suffix(pass.dry_run)
}

/// `Stopped after 1h2m3s: 7 raised, 1 failing`: the same for `run`, which looks at a
/// Deployment more than once.
pub fn run_summary(tally: &Tally, left: &RunSummary, elapsed: Duration, dry_run: DryRun) -> String {
    if !left.synced {
        return format!(
            "Stopped after {}, before the first lists were read",
            took(elapsed)
        );
    }
    let changed = match dry_run {
        DryRun::None => format!("{} raised", tally.raised),
        DryRun::Client | DryRun::Server => format!("would raise {}", tally.would_raise),
    };
    let mut line = format!(
        "Stopped after {}: {changed}, {} failing",
        took(elapsed),
        tally.failing
    );
    for (count, what) in [
        (left.dropped_delayed, "waiting to be tried again"),
        (left.abandoned_in_work, "cut off"),
        (
            left.abandoned.saturating_sub(left.abandoned_in_work),
            "not looked at",
        ),
        (left.unanswered, "sent and not answered"),
    ] {
        if count > 0 {
            let _ = write!(line, ", {count} {what}");
        }
    }
    line + suffix(dry_run)
}

/// `3 events not written: 2 refused, 1 given_up`, `None` if all were. The words are those of
/// `docs/events.md`.
pub fn unwritten_events(counts: &EventCounts) -> Option<String> {
    let total = counts.dropped_total();
    let of_reason = |reason| match counts.dropped(reason) {
        0 => None,
        count => Some(format!("{count} {reason}")),
    };
    let reasons: Vec<String> = DropReason::ALL.into_iter().filter_map(of_reason).collect();
    let events = counted(total, "event");
    (total > 0).then(|| format!("{events} not written: {}", reasons.join(", ")))
}

/// What kubectl ends a line with when nothing was changed.
pub(crate) fn suffix(dry_run: DryRun) -> &'static str {
    match dry_run {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    }
}

/// `85ms` below a second, `3.1s` below a minute, `1h2m3s` from there on.
fn took(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) if seconds == 0 => format!("{}ms", elapsed.as_millis()),
        (0, 0) => format!("{:.1}s", elapsed.as_secs_f64()),
        (0, _) => format!("{minutes}m{}s", seconds % 60),
        _ => format!("{hours}h{minutes}m{}s", seconds % 60),
    }
}

#[cfg(test)]
mod tests;
