use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::Serialize;

use super::contest::{Better, Goal};
use super::rounds::{Outcome, Row};
use super::stats::Stats;

/// What a race found out, as `target/race/NAME.json` has it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) race: &'static str,
    pub(super) machine: String,
    pub(super) rounds: usize,
    pub(super) rows: Vec<ReportRow>,
}

/// One case.
#[derive(Debug, Serialize)]
pub(super) struct ReportRow {
    pub(super) case: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    /// Who could run it.
    pub(super) subjects: BTreeMap<&'static str, ReportEntry>,
    /// How many times better ours is than each of the others, by the medians.
    pub(super) ratio: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    pub(super) goal: Option<Goal>,
}

/// One subject in one case.
#[derive(Debug, Serialize)]
pub(super) struct ReportEntry {
    #[serde(flatten)]
    pub(super) stats: Stats,
    pub(super) version: String,
}

// === impl Report ===

impl Report {
    /// `subjects` are the entrants' names, ours first.
    pub(super) fn new(
        race: &'static str,
        machine: String,
        rounds: usize,
        subjects: &[&'static str],
        outcome: Outcome,
    ) -> Self {
        let rows = outcome.rows.into_iter();
        Self {
            race,
            machine,
            rounds,
            rows: rows.map(|row| ReportRow::new(row, subjects)).collect(),
        }
    }

    /// The version of each subject that ran.
    pub(super) fn versions(&self) -> BTreeMap<&'static str, &str> {
        let entries = self.rows.iter().flat_map(|row| &row.subjects);
        entries
            .map(|(name, entry)| (*name, entry.version.as_str()))
            .collect()
    }

    /// The cases and subjects whose rounds differ so much that their median says little.
    pub(super) fn unsteady(&self) -> Vec<(&'static str, &'static str)> {
        let mut found = Vec::new();
        for row in &self.rows {
            let wide = row
                .subjects
                .iter()
                .filter(|(_, entry)| entry.stats.is_wide());
            found.extend(wide.map(|(name, _)| (row.case, *name)));
        }
        found
    }

    /// Writes `NAME.json` into `folder`. Whoever reads it meanwhile has the old one or the
    /// new one, and never a part.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        text.push('\n');
        fs::create_dir_all(folder)?;
        let unfinished = folder.join(format!(".{}.json.new", self.race));
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, folder.join(format!("{}.json", self.race)))
    }
}

// === impl ReportRow ===

impl ReportRow {
    fn new(row: Row, subjects: &[&'static str]) -> Self {
        let case = row.case;
        let ours = row.entries.first().cloned().flatten();
        let entries = subjects.iter().copied().zip(row.entries);
        let entries: Vec<_> = entries
            .filter_map(|(name, entry)| Some((name, entry?)))
            .collect();
        let peers = entries.iter().filter(|(name, _)| *name != subjects[0]);
        let ratio = peers.filter_map(|(name, theirs)| {
            let ours = ours.as_ref()?.stats.median;
            Some((*name, case.better.ratio(ours, theirs.stats.median)))
        });
        Self {
            case: case.name,
            unit: case.unit,
            better: case.better,
            goal: case.goal,
            ratio: ratio.collect(),
            subjects: entries
                .into_iter()
                .map(|(name, entry)| {
                    let (stats, version) = (entry.stats, entry.version);
                    (name, ReportEntry { stats, version })
                })
                .collect(),
        }
    }

    /// Is its goal reached? `None` without a goal, or if not all that it compares could run.
    pub(super) fn reached(&self, subjects: &[&'static str]) -> Option<bool> {
        match self.goal? {
            Goal::Times(times) => {
                let peers = &subjects[1..];
                let ratios: Option<Vec<f64>> = peers
                    .iter()
                    .map(|peer| self.ratio.get(peer).copied())
                    .collect();
                Some(ratios?.iter().all(|ratio| *ratio >= times))
            }
            Goal::AtMost(limit) => {
                let ours = self.subjects.get(subjects.first()?)?;
                Some(ours.stats.median <= limit)
            }
        }
    }
}
