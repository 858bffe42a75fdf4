use serde::Deserialize;

use super::glob::matches;

/// The differences that are kept on purpose.
pub(super) struct Kept {
    entries: Vec<Entry>,
    /// For each entry, how many differences each of its cases and patterns has matched.
    counts: Vec<(Vec<usize>, Vec<usize>)>,
}

/// One of them, as `kept.yaml` has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// In a line.
    pub(super) what: String,
    /// The reason.
    pub(super) why: String,
    /// Patterns of `group: title`.
    cases: Vec<String>,
    /// Patterns of differences.
    differences: Vec<String>,
}

// === impl Kept ===

impl Kept {
    /// Reads `kept.yaml`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let entries: Vec<Entry> =
            serde_saphyr::from_str(text).map_err(|error| format!("kept.yaml: {error}"))?;
        for entry in &entries {
            if entry.why.trim().is_empty() {
                return Err(format!("kept.yaml: `{}` gives no reason", entry.what));
            }
        }
        let none = |entry: &Entry| (vec![0; entry.cases.len()], vec![0; entry.differences.len()]);
        let counts = entries.iter().map(none).collect();
        Ok(Self { entries, counts })
    }

    /// Whether a difference is kept on purpose, and remembers that it was there.
    pub(super) fn explains(&mut self, case: &str, difference: &str) -> bool {
        let mut explained = false;
        for (entry, (cases, differences)) in self.entries.iter().zip(&mut self.counts) {
            let fits = |patterns: &[String], text: &str| -> Vec<usize> {
                let patterns = patterns.iter().enumerate();
                let fitting = patterns.filter(|(_, pattern)| matches(pattern, text));
                fitting.map(|(at, _)| at).collect()
            };
            let of_case = fits(&entry.cases, case);
            let of_difference = fits(&entry.differences, difference);
            if of_case.is_empty() || of_difference.is_empty() {
                continue;
            }
            explained = true;
            of_case.iter().for_each(|at| cases[*at] += 1);
            of_difference.iter().for_each(|at| differences[*at] += 1);
        }
        explained
    }

    /// The entries, each with the number of differences that it has explained.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Entry, usize)> {
        let counts = self.counts.iter();
        let explained = counts.map(|(cases, _)| cases.iter().copied().max().unwrap_or_default());
        self.entries.iter().zip(explained)
    }

    /// What no longer matches anything: the servers have become alike, or a case is gone.
    pub(super) fn stale(&self) -> Vec<String> {
        let mut stale = Vec::new();
        for (entry, (cases, differences)) in self.entries.iter().zip(&self.counts) {
            let patterns = entry.cases.iter().zip(cases);
            let patterns = patterns.chain(entry.differences.iter().zip(differences));
            for (pattern, _) in patterns.filter(|(_, count)| **count == 0) {
                stale.push(format!("`{}`: `{pattern}`", entry.what));
            }
        }
        stale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "
- what: No YAML
  why: Nothing asks for it.
  cases: ['Media types: *', 'Lists: yaml']
  differences: ['status: 200 | 406', 'body*']
";

    #[test]
    fn a_difference_is_explained_where_case_and_pattern_fit() {
        let mut kept = Kept::parse(TABLE).unwrap();
        assert!(kept.explains("Media types: a", "status: 200 | 406"));
        assert!(!kept.explains("Media types: a", "status: 200 | 500"));
        assert!(!kept.explains("Other: a", "status: 200 | 406"));
        let counted: Vec<usize> = kept.entries().map(|(_, count)| count).collect();
        assert_eq!(counted, [1]);
    }

    #[test]
    fn what_matches_nothing_is_stale() {
        let mut kept = Kept::parse(TABLE).unwrap();
        assert_eq!(kept.stale().len(), 4);
        kept.explains("Media types: a", "status: 200 | 406");
        assert_eq!(
            kept.stale(),
            ["`No YAML`: `Lists: yaml`", "`No YAML`: `body*`"]
        );
        kept.explains("Lists: yaml", "body: 1 | 2");
        assert_eq!(kept.stale(), [""; 0]);
    }

    #[test]
    fn an_entry_needs_a_reason() {
        let refused = Kept::parse("- {what: a, why: ' ', cases: [], differences: []}");
        assert_eq!(refused.err().unwrap(), "kept.yaml: `a` gives no reason");
    }
}
