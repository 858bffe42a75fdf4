use super::{Findings, Tree};

/// What must not stand in any file. Each is put together from halves, so that this file
/// passes its own check.
const BANNED: [(&str, &str); 4] = [
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!(".lib", "rary"), "a folder of one machine"),
    (concat!("the ", "issue"), "a reference to a tracker"),
    (concat!("this ", "issue"), "a reference to a tracker"),
];

/// The repository names no machine or tracker of the people who write it.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for file in &tree.files {
        for (at, line) in file.text.lines().enumerate() {
            for (word, meaning) in BANNED {
                if stands_alone(line, word) {
                    findings.add(
                        &file.path,
                        at + 1,
                        format!("`{word}`, {meaning}"),
                        "a clone has to make sense anywhere",
                        "say what is meant without the place",
                    );
                }
            }
        }
    }
    findings
}

/// Whether `word` occurs and does not continue a longer one: `/home/me/x` is a path of its
/// own, and `x` after `framework/` is not.
fn stands_alone(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_words_pass() {
        let text = "target/work/x\nnetwork/a\n${dir}/work/b\n";
        assert_eq!(check(&Tree::sample(&[("docs/a.md", text)])).brief(), "");
    }

    #[test]
    fn places_are_found_in_any_file() {
        let text = format!("see\n`{}main`\n", concat!("/wo", "rk/"));
        let findings = check(&Tree::sample(&[("docs/a.md", &text)]));
        assert_eq!(findings.violations.len(), 1);
        assert_eq!(findings.violations[0].line, 2);
    }
}
