use super::{Findings, Tree};

/// Of a hundred lines that are neither blank nor tests, so many are documentation.
const MINIMUM: usize = 25;

/// A quarter of controller-core is documentation.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    let (mut documentation, mut all) = (0, 0);
    for (file, rust) in tree.product() {
        if !file.path.starts_with("controller-core/") {
            continue;
        }
        for (at, line) in file.text.lines().enumerate() {
            let line = line.trim_start();
            if line.is_empty() || rust.is_test_line(at + 1) {
                continue;
            }
            all += 1;
            documentation += usize::from(line.starts_with("///") || line.starts_with("//!"));
        }
    }
    if all == 0 {
        return findings;
    }
    let share = documentation * 100 / all;
    findings.measured.push(format!(
        "documentation: {share} % of controller-core ({documentation} of {all} lines; blank lines and tests not counted)"
    ));
    if share < MINIMUM {
        findings.add(
            "controller-core/src",
            1,
            format!("{share} % of the lines are documentation, less than {MINIMUM} %"),
            "the crate is read by people who learn the pattern from it",
            "say contracts, units, errors and the one dangerous mistake of each public item",
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_is_enough_and_less_is_not() {
        let path = "controller-core/src/lib.rs";
        let quarter = "//! Docs.\n\nfn a() {}\nfn b() {}\nfn c() {}\n\
             #[cfg(test)]\nmod tests { fn t() {} }\n";
        assert_eq!(check(&Tree::sample(&[(path, quarter)])).brief(), "");
        let less = format!("{quarter}fn d() {{}}\n// not documentation\n");
        insta::assert_snapshot!(
            check(&Tree::sample(&[(path, &less)])).brief(),
            @"controller-core/src:1 16 % of the lines are documentation, less than 25 %"
        );
    }
}
