use super::{Findings, Tree};

const MEDIAN: usize = 150;
const NINE_IN_TEN: usize = 350;
const MAXIMUM: usize = 500;

const WHY: &str = "a file that fits in the head is found, read and reviewed";

/// Rust files stay small, tests not counted; Go files share the upper bound.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    let mut sizes: Vec<(usize, &str)> = tree
        .shipped()
        .map(|(file, _)| (file.shipped_lines(), file.path.as_str()))
        .collect();
    let go = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with(".go") && !file.path.ends_with("_test.go"))
        .map(|file| (file.shipped_lines(), file.path.as_str()));
    for (lines, path) in sizes.iter().copied().chain(go) {
        if lines > MAXIMUM {
            findings.add(
                path,
                1,
                format!("{lines} lines without tests, more than {MAXIMUM}"),
                WHY,
                "give each concept with its own invariant a file",
            );
        }
    }
    sizes.sort_unstable();
    let Some((longest, path)) = sizes.last().copied() else {
        return findings;
    };
    let at = |share: usize| sizes[(sizes.len() * share).div_ceil(100).max(1) - 1].0;
    let (median, p90) = (at(50), at(90));
    findings.measured.push(format!(
        "file sizes: {} Rust files, median {median} lines, p90 {p90}, longest {longest} ({path}), tests not counted",
        sizes.len()
    ));
    for (name, value, limit) in [("median", median, MEDIAN), ("p90", p90, NINE_IN_TEN)] {
        if value > limit {
            findings.add(
                path,
                1,
                format!("the {name} of all files is {value} lines, more than {limit}"),
                WHY,
                "split the longest files; this is the longest",
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(files: &[(&str, usize, usize)]) -> Findings {
        let files = files.iter().map(|(path, lines, test_lines)| {
            let tests = format!(
                "#[cfg(test)]\nmod tests {{\n{}}}\n",
                "// a case\n".repeat(*test_lines)
            );
            ((*path).to_owned(), "// code\n".repeat(*lines) + &tests)
        });
        check(&Tree::new(files))
    }

    #[test]
    fn tests_do_not_count() {
        let findings = sample(&[("a/src/lib.rs", 100, 600), ("a/tests/all.rs", 900, 0)]);
        assert_eq!(findings.brief(), "");
        insta::assert_snapshot!(findings.measured.join("\n"), @"file sizes: 1 Rust files, median 100 lines, p90 100, longest 100 (a/src/lib.rs), tests not counted");
    }

    #[test]
    fn long_files_fail_one_by_one_and_together() {
        let findings = sample(&[
            ("a/src/a.rs", 40, 0),
            ("a/src/b.rs", 151, 0),
            ("a/src/c.rs", 501, 0),
        ]);
        insta::assert_snapshot!(findings.brief(), @r"
        a/src/c.rs:1 501 lines without tests, more than 500
        a/src/c.rs:1 the median of all files is 151 lines, more than 150
        a/src/c.rs:1 the p90 of all files is 501 lines, more than 350
        ");
    }
}
