//! The report for people: what was changed, would be changed, or failed.

use comfy_table::{ContentArrangement, Table, presets};
use controller_core::controllers::min_replicas::{Effect, Verdict};

use super::escape_line;
use super::failures::short;
use super::pass::Pass;
use super::summary::suffix;

/// kubectl's gutter between two columns.
const GUTTER: u16 = 3;

/// The table, `None` if there is nothing to show in it.
pub(crate) fn table(pass: &Pass) -> Option<String> {
    let rows: Vec<[String; 3]> = pass.verdicts.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        // A line stays a line: what a terminal does with a long one is its own affair,
        // and `grep` finds whole sentences.
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(["NAMESPACE", "NAME", "RESULT"])
        .add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, GUTTER));
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    Some(lines.join("\n") + "\n")
}

fn row(verdict: &Verdict) -> Option<[String; 3]> {
    let result = match &verdict.effect {
        Effect::None => return None,
        // The whole sentence of the server stands below the table, once for all objects
        // that share it.
        Effect::Failed(failure) => {
            let suffix = verdict.change().map_or("", |_| suffix(verdict.dry_run));
            format!("{} ({}){suffix}", verdict.attempt(), short(failure))
        }
        _ => verdict.to_string(),
    };
    Some(
        [
            verdict.key.namespace().unwrap_or_default().to_owned(),
            verdict.object(),
            result,
        ]
        .map(|cell| escape_line(&cell).into_owned()),
    )
}

#[cfg(test)]
mod tests;
