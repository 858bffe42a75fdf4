use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use similar::TextDiff;

use super::answer::Answer;
use super::kept::Kept;
use super::script::Case;

/// What was found, for people as it comes and for programs at the end.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Wall time, with both servers' start and end.
    pub(super) seconds: f64,
    requests: usize,
    watches: usize,
    events: usize,
    /// Answers that are alike, symbols aside. A watch that is left open has two: its head,
    /// and later its events.
    same: usize,
    /// Answers that differ as `kept.yaml` says.
    kept: usize,
    /// Answers that differ in another way.
    different: usize,
    groups: Vec<GroupReport>,
    kept_on_purpose: Vec<KeptReport>,
    /// Entries of `kept.yaml` that match nothing any more.
    stale: Vec<String>,
}

/// One group.
#[derive(Debug, Default, Serialize)]
pub(super) struct GroupReport {
    pub(super) file: String,
    pub(super) title: String,
    pub(super) requests: usize,
    pub(super) watches: usize,
    pub(super) events: usize,
    pub(super) same: usize,
    pub(super) kept: usize,
    pub(super) different: usize,
}

#[derive(Debug, Serialize)]
struct KeptReport {
    what: String,
    why: String,
    differences: usize,
}

/// The lines around a difference that are shown.
const CONTEXT: usize = 3;

/// After this long a diff is given up as too long to be a good one.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows where two answers differ, and which of it is unexplained.
pub(super) fn difference(
    case: &Case,
    unexplained: &[String],
    real: &Answer,
    simulated: &Answer,
) -> String {
    let mut text = format!("{}: {}\n", case.place, case.title);
    for difference in unexplained {
        text.push_str(&format!("  {}\n", cut(difference)));
    }
    let (real, simulated) = (real.text(), simulated.text());
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_lines(&real, &simulated);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT).header("real", "simulated");
    for line in unified.to_string().lines() {
        text.push_str(&format!("    {line}\n"));
    }
    text
}

/// Both answers as they are.
pub(super) fn answers(case: &Case, real: &Answer, simulated: &Answer) -> String {
    let (real, simulated) = (real.text(), simulated.text());
    let (place, title) = (&case.place, &case.title);
    format!("{place}: {title}\n--- real\n{real}--- simulated\n{simulated}\n")
}

/// A line that still fits a screen; the diff below has all of it.
fn cut(line: &str) -> String {
    const LONGEST: usize = 400;
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

// === impl Report ===

impl Report {
    /// Adds a group, and says how it went.
    pub(super) fn group(&mut self, group: GroupReport) -> String {
        let mark = if group.different > 0 {
            "DIFFERENT"
        } else {
            "same"
        };
        let mut line = format!(
            "{mark:<9} {:>3} requests  {}: {}",
            group.requests, group.file, group.title
        );
        if group.kept > 0 {
            line.push_str(&format!(" ({} differ on purpose)", group.kept));
        }
        self.requests += group.requests;
        self.watches += group.watches;
        self.events += group.events;
        self.same += group.same;
        self.kept += group.kept;
        self.different += group.different;
        self.groups.push(group);
        line
    }

    /// Adds what is kept on purpose, and what of that is not there.
    pub(super) fn kept(&mut self, kept: &Kept, stale: Vec<String>) {
        let entries = kept.entries().map(|(entry, differences)| KeptReport {
            what: entry.what.clone(),
            why: entry.why.trim().to_owned(),
            differences,
        });
        self.kept_on_purpose = entries.collect();
        self.stale = stale;
    }

    /// Whether nothing is unexplained.
    pub(super) fn is_well(&self) -> bool {
        self.different == 0 && self.stale.is_empty()
    }

    /// The last lines.
    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        for entry in &self.stale {
            text.push_str(&format!(
                "STALE     kept.yaml, {entry} matches no difference\n"
            ));
        }
        text.push_str(&format!(
            "{} answers to {} requests ({} watches, {} events): {} the same, {} differ on purpose, {} differ; {:.0} s",
            self.same + self.kept + self.different,
            self.requests,
            self.watches,
            self.events,
            self.same,
            self.kept,
            self.different,
            self.seconds
        ));
        text
    }

    /// Writes it to a file, and makes the folder if need be.
    pub(super) fn write(&self, path: &Path) -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        fs::write(path, text + "\n")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::judge::answer::Content;

    fn answer(status: u16, replicas: u8) -> Answer {
        Answer {
            status,
            headers: BTreeMap::from([("content-type", vec!["application/json".to_owned()])]),
            content: Content::Json(json!({"spec": {"replicas": replicas}})),
        }
    }

    #[test]
    fn a_difference_is_shown_with_what_is_around_it() {
        let unexplained = ["body.spec.replicas: 2 | 3".to_owned()];
        let case = Case::namespace();
        let shown = difference(&case, &unexplained, &answer(200, 2), &answer(200, 3));
        insta::assert_snapshot!(shown, @r#"
every group: its namespace
  body.spec.replicas: 2 | 3
    --- real
    +++ simulated
    @@ -2,6 +2,6 @@
     content-type: application/json
     {
       "spec": {
    -    "replicas": 2
    +    "replicas": 3
       }
     }
"#);
    }

    #[test]
    fn one_difference_or_one_stale_entry_is_a_failure() {
        let group = |different| GroupReport {
            requests: 1,
            different,
            ..GroupReport::default()
        };
        let mut report = Report::default();
        report.group(group(0));
        assert!(report.is_well());
        report.stale = vec!["`a`: `b`".to_owned()];
        assert!(!report.is_well());
        report.stale.clear();
        report.group(group(1));
        assert!(!report.is_well());
        insta::assert_snapshot!(report.summary(), @"1 answers to 2 requests (0 watches, 0 events): 0 the same, 0 differ on purpose, 1 differ; 0 s");
    }
}
