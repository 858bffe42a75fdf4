use comfy_table::{CellAlignment, Table, presets};

use super::contest::Goal;
use super::report::{Report, ReportRow};
use super::stats::Stats;

/// The report for a person.
pub(super) fn table(report: &Report, subjects: &[&'static str]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["case".to_owned(), "unit".to_owned()];
    header.extend(subjects.iter().map(|name| (*name).to_owned()));
    header.extend(
        subjects[1..]
            .iter()
            .map(|name| format!("better than {name}")),
    );
    header.push("goal".to_owned());
    table.set_header(header);
    for row in &report.rows {
        table.add_row(cells(row, subjects));
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 1));
    }
    for column in 2..2 + 2 * subjects.len() - 1 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    let lines: Vec<String> = lines.collect();
    format!("{}\n", lines.join("\n"))
}

fn cells(row: &ReportRow, subjects: &[&'static str]) -> Vec<String> {
    let missing = || "-".to_owned();
    let mut cells = vec![row.case.to_owned(), row.unit.to_owned()];
    for name in subjects {
        let entry = row.subjects.get(name);
        cells.push(entry.map_or_else(missing, |entry| spread(&entry.stats)));
    }
    for peer in &subjects[1..] {
        let ratio = row.ratio.get(peer);
        cells.push(ratio.map_or_else(missing, |ratio| format!("{ratio:.2} x")));
    }
    cells.push(goal(row, subjects));
    cells
}

/// The median, and what it lies between.
fn spread(stats: &Stats) -> String {
    let Stats { median, min, max } = *stats;
    format!("{} ({} to {})", short(median), short(min), short(max))
}

fn goal(row: &ReportRow, subjects: &[&'static str]) -> String {
    let goal = match row.goal {
        None => return String::new(),
        Some(Goal::Times(times)) => format!("{times} x"),
        Some(Goal::AtMost(limit)) => format!("at most {limit}"),
    };
    let verdict = match row.reached(subjects) {
        Some(true) => "reached",
        Some(false) => "MISSED",
        None => "not judged",
    };
    format!("{goal}: {verdict}")
}

/// Three digits, or two behind the point of a million.
fn short(value: f64) -> String {
    match value {
        1e6.. => format!("{:.2} M", value / 1e6),
        1e4.. => format!("{:.0} k", value / 1e3),
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
