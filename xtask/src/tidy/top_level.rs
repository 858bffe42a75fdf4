use std::collections::BTreeSet;

use super::{Findings, Tree};

/// What has to be there, with `/` behind a folder.
const REQUIRED: [&str; 11] = [
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "controller-core/",
    "docs/",
    "kubectl-minrep/",
    "manifests/",
    "tests/",
    "xtask/",
];

/// Configuration that its tool looks for in this place. Dotfiles need no entry.
const TOOL_CONFIGURATION: [&str; 4] = [
    "clippy.toml",
    "deny.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

/// The top level holds the parts of the project, and nothing else.
pub(super) fn check(tree: &Tree) -> Findings {
    let present: BTreeSet<String> = tree
        .files
        .iter()
        .map(|file| match file.path.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => file.path.clone(),
        })
        .collect();
    let mut findings = Findings::default();
    let why = "a newcomer reads the top level as the table of contents";
    for name in &present {
        let known = REQUIRED.contains(&name.as_str())
            || TOOL_CONFIGURATION.contains(&name.as_str())
            || name.starts_with('.');
        if !known {
            findings.add(
                name,
                1,
                "does not belong on the top level",
                why,
                "move it into one of the folders that are there",
            );
        }
    }
    for name in REQUIRED {
        if !present.contains(name) {
            findings.add(name, 1, "is missing", why, "add it");
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: [(&str, &str); 11] = [
        ("CHANGELOG.md", ""),
        ("Cargo.lock", ""),
        ("Cargo.toml", ""),
        ("LICENSE", ""),
        ("README.md", ""),
        ("controller-core/Cargo.toml", ""),
        ("docs/architecture.md", ""),
        ("kubectl-minrep/Cargo.toml", ""),
        ("manifests/samples/nginx-demo.yaml", ""),
        ("tests/faults/Cargo.toml", ""),
        ("xtask/Cargo.toml", ""),
    ];

    #[test]
    fn the_agreed_list_and_dotfiles_pass() {
        let mut files = COMPLETE.to_vec();
        files.extend([("clippy.toml", ""), (".ci/run", ""), (".gitignore", "")]);
        assert_eq!(check(&Tree::sample(&files)).brief(), "");
    }

    #[test]
    fn a_stray_and_a_missing_entry_are_named() {
        let mut files = COMPLETE[1..].to_vec();
        files.extend([("scripts/build.sh", ""), ("Makefile", "")]);
        insta::assert_snapshot!(check(&Tree::sample(&files)).brief(), @r"
        Makefile:1 does not belong on the top level
        scripts/:1 does not belong on the top level
        CHANGELOG.md:1 is missing
        ");
    }
}
