//! The order in which a pass is told.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use controller_core::client::ObjectKey;
use controller_core::controllers::min_replicas::{Class, Effect, Reason, Verdict};
use indexmap::IndexMap;

use super::document::{json_document, yaml_document};
use super::failures::{failures, not_found};
use super::names::names;
use super::pass::Pass;
use super::summary::pass_summary;
use super::table::{table, wide_table};
use super::{Io, escape_line};
use crate::cli::OutputArg;
use crate::error::{Place, from_server};

/// How many lines of one sort are worth reading one by one.
const MOST_LINES: usize = 10;

/// Writes the report to stdout and everything that explains it to stderr; the summary
/// line is last. `named`: the user asked for these Deployments by name, and wants to hear
/// of each.
///
/// # Errors
///
/// stdout takes no more. The rest has been told all the same.
pub fn show_pass(
    io: &Io,
    pass: &Pass,
    output: OutputArg,
    named: bool,
    place: &Place,
) -> io::Result<()> {
    let table = table(pass);
    let written = match output {
        OutputArg::Json => json_document(pass).and_then(|document| io.data(document)),
        OutputArg::Yaml => yaml_document(pass).and_then(|document| io.data(document)),
        OutputArg::Name => io.data(names(pass)),
        OutputArg::Wide => wide_table(pass).map_or(Ok(()), |table| io.data(table)),
        OutputArg::Table => table.as_ref().map_or(Ok(()), |table| io.data(table)),
    };
    for line in warnings(pass, named) {
        io.talk(line);
    }
    if named {
        for verdict in pass.verdicts.iter().filter(|verdict| is_unchanged(verdict)) {
            io.talk(escape_line(&format!("{} {verdict}", verdict.object())));
        }
    } else if table.is_none() && !pass.interrupted && pass.timed_out.is_none() {
        io.talk(nothing(pass, place));
    }
    for key in &pass.missing {
        io.talk(from_server("NotFound", &not_found(key)));
    }
    if let Some(too_many) = &pass.too_many {
        io.talk(format_args!(
            "error: {too_many} (--max-changes): nothing was written"
        ));
    }
    for line in failures(pass, place) {
        io.talk(line);
    }
    if let Some(timeout) = pass.timed_out {
        io.talk(timed_out(pass, timeout));
    }
    if !named && let Some(line) = skipped(pass) {
        io.talk(line);
    }
    if let Some(hint) = excluded_hint(pass, place) {
        io.talk(hint);
    }
    io.talk(pass_summary(pass));
    written
}

fn is_unchanged(verdict: &Verdict) -> bool {
    matches!(verdict.effect, Effect::None)
}

/// What was not taken into account or not understood, and who stays below the minimum
/// though nobody else raises it.
fn warnings(pass: &Pass, named: bool) -> Vec<String> {
    let object = |verdict: &Verdict| format!("{} ({})", verdict.object(), verdict.key);
    let odd = pass.verdicts.iter().filter(|it| it.reason.is_warning());
    let odd = odd.map(|verdict| format!("{} {verdict}", object(verdict)));
    let rejected = rejected(pass, named).into_iter();
    let rejected = rejected.map(|(what, of)| match of.len() {
        1 => format!("{}: {what}", object(of[0])),
        count => format!("{} and {} more: {what}", object(of[0]), count - 1),
    });
    pass.warnings
        .iter()
        .cloned()
        .chain(shortened(odd))
        .chain(shortened(rejected))
        .map(|warning| format!("Warning: {}", escape_line(&warning)))
        .collect()
}

/// Annotations that are no minimum, by their value: what one chart gives to a thousand is one
/// line, unless each of them was asked for.
fn rejected(pass: &Pass, named: bool) -> Vec<(String, Vec<&Verdict>)> {
    let mut values: IndexMap<(String, Option<&ObjectKey>), Vec<&Verdict>> = IndexMap::new();
    for verdict in &pass.verdicts {
        if let Some(rejected) = &verdict.rejected_min {
            let by = (rejected.to_string(), named.then_some(&verdict.key));
            values.entry(by).or_default().push(verdict);
        }
    }
    let values = values.into_iter();
    values.map(|((what, _), of)| (what, of)).collect()
}

/// The first of them, and how many there are beside.
fn shortened(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    if lines.len() > MOST_LINES {
        let rest = lines.split_off(MOST_LINES).len();
        lines.push(format!("{rest} more like these (`-o json` has them all)"));
    }
    lines
}

fn nothing(pass: &Pass, place: &Place) -> String {
    let what = if pass.verdicts.is_empty() {
        "No opted-in Deployments found"
    } else {
        "No Deployment needs a change"
    };
    match &place.namespace {
        Some(namespace) => format!("{what} in {namespace} namespace."),
        None => format!("{what}."),
    }
}

/// Where the time went: reading is mended by asking for less, writing by doing more at once.
fn timed_out(pass: &Pass, timeout: Duration) -> String {
    if pass.synced {
        format!(
            "error: timed out after {timeout:?} (--timeout): nothing more was sent\n\
             hint: run it again to go on, raise `--workers`, or raise `--timeout`"
        )
    } else {
        format!(
            "error: timed out after {timeout:?} (--timeout), before everything was read: nothing \
             was written\n\
             hint: raise `--timeout`, or narrow with `-n` or `-l`"
        )
    }
}

/// A context that stands in a system namespace finds everything excluded.
fn excluded_hint(pass: &Pass, place: &Place) -> Option<String> {
    let namespace = place.namespace.as_deref()?;
    pass.verdicts
        .iter()
        .any(|verdict| matches!(verdict.reason, Reason::NamespaceExcluded { .. }))
        .then(|| format!("hint: `-n {namespace}` says that you mean it"))
}

/// `Skipped: 4 Autoscaled, 2 Owned (`-o json` names them)`.
fn skipped(pass: &Pass) -> Option<String> {
    let mut reasons: BTreeMap<&'static str, usize> = BTreeMap::new();
    for verdict in pass.verdicts.iter().filter(|verdict| is_unchanged(verdict)) {
        if matches!(verdict.reason.class(), Class::Skipped | Class::Waiting) {
            *reasons.entry(verdict.reason.name()).or_default() += 1;
        }
    }
    let mut line = String::new();
    for (reason, count) in reasons {
        let separator = if line.is_empty() { "Skipped: " } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(line, "{separator}{count} {reason}");
    }
    (!line.is_empty()).then(|| line + " (`-o json` names them)")
}

#[cfg(test)]
mod tests;
