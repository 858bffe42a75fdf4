//! The report for people: what was changed, would be changed, or failed.

use comfy_table::{ContentArrangement, Table, presets};
use controller_core::controllers::min_replicas::{Effect, Opponent, Reason, Verdict};

use super::escape_line;
use super::failures::short;
use super::pass::Pass;
use super::summary::suffix;

/// kubectl's gutter between two columns.
const GUTTER: u16 = 3;

/// What kubectl shows where there is nothing.
const NONE: &str = "<none>";

/// The table, `None` if there is nothing to show in it.
pub(crate) fn table(pass: &Pass) -> Option<String> {
    let changed = pass
        .verdicts
        .iter()
        .filter(|verdict| !is_unchanged(verdict));
    let rows: Vec<Vec<String>> = changed.map(|verdict| narrow_row(verdict).into()).collect();
    lines(&["NAMESPACE", "NAME", "RESULT"], rows)
}

/// The same with more columns, of everything that was looked at; `None` if that is nothing.
///
/// `MANAGER` is who else has a say in the number: an autoscaler, an owner, or the field
/// manager of a fight.
pub(crate) fn wide_table(pass: &Pass) -> Option<String> {
    let row = |verdict: &Verdict| {
        let more = [
            verdict.reason.name().to_owned(),
            manager(&verdict.reason).unwrap_or_else(|| NONE.to_owned()),
            verdict.uid.clone().unwrap_or_else(|| NONE.to_owned()),
        ];
        narrow_row(verdict).into_iter().chain(more).collect()
    };
    lines(
        &["NAMESPACE", "NAME", "RESULT", "REASON", "MANAGER", "UID"],
        pass.verdicts.iter().map(row).collect(),
    )
}

fn lines(header: &[&str], rows: Vec<Vec<String>>) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let escaped = |row: Vec<String>| -> Vec<String> {
        row.iter()
            .map(|cell| escape_line(cell).into_owned())
            .collect()
    };
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        // A line stays a line: what a terminal does with a long one is its own affair,
        // and `grep` finds whole sentences.
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header)
        .add_rows(rows.into_iter().map(escaped));
    for column in table.column_iter_mut() {
        column.set_padding((0, GUTTER));
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    Some(lines.join("\n") + "\n")
}

fn is_unchanged(verdict: &Verdict) -> bool {
    matches!(verdict.effect, Effect::None)
}

fn narrow_row(verdict: &Verdict) -> [String; 3] {
    let result = match &verdict.effect {
        // The whole sentence of the server stands below the table, once for all objects
        // that share it.
        Effect::Failed(failure) => {
            let suffix = verdict.change().map_or("", |_| suffix(verdict.dry_run));
            format!("{} ({}){suffix}", verdict.attempt(), short(failure))
        }
        _ => verdict.to_string(),
    };
    let namespace = verdict.key.namespace().unwrap_or_default();
    [namespace.to_owned(), verdict.object(), result]
}

fn manager(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Autoscaled { by, .. } => Some(format!("{}/{}", by.kind(), by.name())),
        Reason::Owned { owner } => Some(format!("{}/{}", owner.kind, owner.name)),
        Reason::Fight {
            opponent: Opponent::Manager(name),
            ..
        } => Some(name.clone()),
        _ => reason
            .autoscaler()
            .map(|name| format!("HorizontalPodAutoscaler/{name}")),
    }
}

#[cfg(test)]
mod tests;
