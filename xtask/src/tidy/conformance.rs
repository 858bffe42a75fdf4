use std::collections::HashMap;

use super::{Findings, SourceFile, Tree};

/// The document that maps the rows of the inventory to tests.
const MAP: &str = "docs/conformance.md";
/// Below it are the tests that the document names, or else below the workspace.
const BELOW: &str = "controller-core/";
/// What an id begins with, before `-` and two digits.
const KINDS: [&str; 13] = [
    "RF", "WL", "FF", "CT", "SI", "ST", "RW", "RV", "BX", "WQ", "DQ", "RL", "C",
];
/// The kinds of rows that are about queues.
const QUEUES: [&str; 3] = ["WQ", "DQ", "RL"];
/// The ids of one kind have another form.
const KUBE_RS: &str = "kube-rs ";
/// So many rows at most, those about queues not counted, may have no test.
const MOST_WITHOUT: usize = 25;
const WHY: &str = "a map of tests is only worth reading as long as it is true";

/// One row of the document.
struct Row<'a> {
    line: usize,
    id: &'a str,
    is_applicable: bool,
    is_real: bool,
    /// Paths and names. Of a row that is not applicable, the nearest ones.
    tests: Vec<(&'a str, &'a str)>,
}

/// Each row names tests that are there and carry its id, no id has two rows, each id that a
/// doc comment mentions has one, and few rows have no test.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    let Some(document) = tree.files.iter().find(|file| file.path == MAP) else {
        return findings;
    };
    let rows: Vec<Row<'_>> = rows(&document.text).collect();
    each_once(&mut findings, &rows);
    few_without(&mut findings, &rows);
    let files: HashMap<&str, &SourceFile> = tree
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    for row in &rows {
        tests_are_there(&mut findings, row, &files);
    }
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        mentioned_have_rows(&mut findings, file, &rows);
    }
    findings
}

fn each_once(findings: &mut Findings, rows: &[Row<'_>]) {
    let mut first = HashMap::new();
    for row in rows {
        let line = *first.entry(row.id).or_insert(row.line);
        if line != row.line {
            let what = format!("{} has a row already, at line {line}", row.id);
            findings.add(MAP, row.line, what, WHY, "make one row of the two");
        }
    }
}

fn few_without(findings: &mut Findings, rows: &[Row<'_>]) {
    let without = rows.iter().filter(|row| {
        let is_queue = QUEUES.iter().any(|kind| row.id.starts_with(kind));
        !row.is_applicable && !is_queue
    });
    let count = without.count();
    if count > MOST_WITHOUT {
        findings.add(
            MAP,
            1,
            format!("{count} rows are not applicable, of at most {MOST_WITHOUT}"),
            "what is left out of an inventory is not tested",
            "test what a handler observes instead",
        );
    }
}

fn tests_are_there(findings: &mut Findings, row: &Row<'_>, files: &HashMap<&str, &SourceFile>) {
    let Row { line, id, .. } = *row;
    if row.tests.is_empty() {
        findings.add(MAP, line, format!("{id} names no test"), WHY, "name one");
    }
    let has_real = row
        .tests
        .iter()
        .any(|(path, _)| path.ends_with("/both.rs") || path.contains("/both/"));
    if row.is_applicable && row.is_real != has_real {
        let what = format!("{id} is wrong about the real server");
        let mend = "say yes where one of its tests is below `both`, and only there";
        findings.add(MAP, line, what, WHY, mend);
    }
    for (path, name) in &row.tests {
        let below = format!("{BELOW}{path}");
        let Some(file) = files.get(below.as_str()).or_else(|| files.get(path)) else {
            findings.add(
                MAP,
                line,
                format!("{path} is not there"),
                WHY,
                "mend the path",
            );
            continue;
        };
        let Some(comment) = doc_comment_of(&file.text, name) else {
            let what = format!("{path} has no test {name}");
            findings.add(MAP, line, what, WHY, "mend the name");
            continue;
        };
        if row.is_applicable && !ids(&comment).any(|carried| carried == id) {
            let what = format!("{path}::{name} does not say that it is about {id}");
            findings.add(MAP, line, what, WHY, "begin its doc comment with the id");
        }
    }
}

fn mentioned_have_rows(findings: &mut Findings, file: &SourceFile, rows: &[Row<'_>]) {
    for (at, line) in file.text.lines().enumerate() {
        let line = line.trim_start();
        if !line.starts_with("///") && !line.starts_with("//!") {
            continue;
        }
        for id in ids(line).filter(|id| rows.iter().all(|row| row.id != *id)) {
            let what = format!("{id} has no row in {MAP}");
            findings.add(&file.path, at + 1, what, WHY, "add the row");
        }
    }
}

/// The rows of all tables whose first column is an id.
fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    text.lines().enumerate().filter_map(|(at, line)| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split('|').map(str::trim).collect();
        let [id, _, tests, real, ..] = cells[..] else {
            return None;
        };
        let is_id = ids(id).next() == Some(id);
        is_id.then(|| Row {
            line: at + 1,
            id,
            is_applicable: !tests.starts_with("not applicable"),
            is_real: real == "yes",
            tests: quoted(tests)
                .filter_map(|quoted| quoted.split_once("::"))
                .collect(),
        })
    })
}

/// What stands between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The doc comment of the test `name`, if there is such a test. As text, for some stand inside
/// of a macro.
fn doc_comment_of(text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_it = |line: &&str| {
        let after = line.split_once("fn ").map(|(_, after)| after);
        let rest = after.and_then(|after| after.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('('))
    };
    let at = lines.iter().position(is_it)?;
    let ends = |line: &str| line.is_empty() || line.ends_with(['{', '}', ';']);
    let above: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .copied()
        .take_while(|line| line.starts_with("///") || !ends(line))
        .collect();
    let is_test = |line: &&str| line.starts_with("#[") && line.contains("test");
    above.iter().any(is_test).then(|| {
        let comment = above.into_iter().filter(|line| line.starts_with("///"));
        comment.collect()
    })
}

/// The ids in a text: `RF-13`, `DQ-02b`, `C-05`, `kube-rs 5`.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let usual = text.match_indices('-').filter_map(|(at, _)| {
        let kind_at = text[..at]
            .rfind(|letter: char| !letter.is_ascii_alphanumeric())
            .map_or(0, |before| before + 1);
        let is_kind = KINDS.contains(&&text[kind_at..at]);
        let behind = &text[at + 1..];
        let length = behind
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(behind.len());
        let number = behind[..length].trim_end_matches('b');
        let is_number = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_kind && is_number).then(|| &text[kind_at..=at + length])
    });
    let kube_rs = text.match_indices(KUBE_RS).filter_map(|(at, _)| {
        let behind = &text[at + KUBE_RS.len()..];
        let length = behind
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(behind.len());
        (length > 0).then(|| &text[at..at + KUBE_RS.len() + length])
    });
    usual.chain(kube_rs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = "/// FF-01, kube-rs 5: in order.\n#[test]\nfn in_order() {}\n\n\
        mod more {\n    /// RF-02: both.\n    #[tokio::test(start_paused = true)]\n    \
        async fn stops() {}\n    fn helper() {}\n    #[test]\n    fn plain() {}\n}\n";

    fn sample(rows: &str, tests: &str) -> String {
        let map = format!("# Map\n\n| row | what | test | real |\n|---|---|---|---|\n{rows}");
        let tree = Tree::sample(&[
            (MAP, &map),
            ("controller-core/tests/a.rs", tests),
            ("controller-core/tests/both.rs", tests),
            ("xtask/src/b.rs", "/// DQ-02b.\n#[test]\nfn later() {}\n"),
        ]);
        check(&tree).brief()
    }

    #[test]
    fn a_true_map_is_well() {
        let rows = "| FF-01 | order | `tests/a.rs::in_order` | |\n\
            | RF-02 | an end | `tests/a.rs::stops`, `tests/both.rs::stops` | yes |\n\
            | DQ-02b | later | `xtask/src/b.rs::later` | |\n\
            | RF-03 | nothing | not applicable: there is none; nearest `tests/a.rs::stops` | |\n\
            | kube-rs 5 | order | `tests/a.rs::in_order` | |\n";
        assert_eq!(sample(rows, TESTS), "");
    }

    #[test]
    fn a_map_that_is_not_true_is_found() {
        let rows = "| FF-01 | order | `tests/a.rs::in_disorder` | |\n\
            | FF-01 | order | `tests/gone.rs::in_order` | |\n\
            | RF-02 | an end | `tests/a.rs::stops` | yes |\n\
            | RF-03 | nothing | | |\n\
            | RF-04 | an end | `tests/both.rs::stops` | |\n\
            | RF-05 | no test | `tests/a.rs::helper` | |\n\
            | RF-06 | of no row | `tests/a.rs::plain` | |\n";
        insta::assert_snapshot!(sample(rows, TESTS), @r"
        docs/conformance.md:6 FF-01 has a row already, at line 5
        docs/conformance.md:5 tests/a.rs has no test in_disorder
        docs/conformance.md:6 tests/gone.rs is not there
        docs/conformance.md:7 RF-02 is wrong about the real server
        docs/conformance.md:8 RF-03 names no test
        docs/conformance.md:9 RF-04 is wrong about the real server
        docs/conformance.md:9 tests/both.rs::stops does not say that it is about RF-04
        docs/conformance.md:10 tests/a.rs has no test helper
        docs/conformance.md:11 tests/a.rs::plain does not say that it is about RF-06
        controller-core/tests/a.rs:1 kube-rs 5 has no row in docs/conformance.md
        controller-core/tests/both.rs:1 kube-rs 5 has no row in docs/conformance.md
        xtask/src/b.rs:1 DQ-02b has no row in docs/conformance.md
        ");
    }

    #[test]
    fn a_map_may_leave_out_a_few_rows() {
        let without = |kind: &str, count: usize| -> String {
            let row = |number| {
                format!(
                    "| {kind}-{number:02} | x | not applicable: x; nearest `tests/a.rs::plain` | |\n"
                )
            };
            (1..=count).map(row).collect()
        };
        let none = "#[test]\nfn plain() {}\n";
        let queue = "| DQ-02b | later | `xtask/src/b.rs::later` | |\n".to_owned();
        let well = without("RF", 25) + &without("WQ", 3) + &queue;
        assert_eq!(sample(&well, none), "");
        let too_many = without("RF", 26) + &queue;
        assert_eq!(
            sample(&too_many, none),
            "docs/conformance.md:1 26 rows are not applicable, of at most 25"
        );
    }

    #[test]
    fn ids_are_told_from_other_words() {
        let text =
            "RF-12, C-05 (DQ-02b); not UTF-16, XRF-12, RF-1, RF-123, RF-12x. kube-rs 41, kube-rs.";
        let found: Vec<&str> = ids(text).collect();
        assert_eq!(found, ["RF-12", "C-05", "DQ-02b", "kube-rs 41"]);
    }
}
