use std::collections::BTreeSet;

use super::{Findings, Tree};

/// The document with the map.
const MAP: &str = "docs/architecture.md";

/// The crates of which every file is on the map, each under a heading with its path.
const MAPPED: [&str; 2] = ["controller-core/src", "kubectl-minrep/src"];

/// The code map names every file of the product, and nothing that is not there.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    let Some(document) = tree.files.iter().find(|file| file.path == MAP) else {
        return findings;
    };
    let entries = entries(&document.text);
    let why = "a map is only read as long as it is true";
    for (line, entry) in &entries {
        let exists = tree
            .files
            .iter()
            .any(|file| file.path == *entry || is_below(&file.path, entry));
        if !exists {
            findings.add(
                MAP,
                *line,
                format!("{entry} is not there"),
                why,
                "mend the row",
            );
        }
    }
    let named: BTreeSet<&str> = entries.iter().map(|(_, entry)| entry.as_str()).collect();
    for (file, _) in tree.product() {
        let structural = matches!(file.name(), "mod.rs" | "lib.rs");
        let on_the_map = named
            .iter()
            .any(|entry| *entry == file.path || is_below(&file.path, entry));
        if !structural && !on_the_map {
            findings.add(
                &file.path,
                1,
                "is not on the code map",
                why,
                format!("name it in a row of {MAP}"),
            );
        }
    }
    findings
}

fn is_below(path: &str, folder: &str) -> bool {
    folder.ends_with('/') && path.starts_with(folder)
}

/// The paths in the first column of each table below a heading that names a mapped crate.
fn entries(text: &str) -> Vec<(usize, String)> {
    let mut root = None;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            let named = line.trim_start_matches('#').trim().trim_matches('`');
            root = MAPPED.iter().find(|path| **path == named);
        }
        let (Some(root), Some(row)) = (root, line.strip_prefix("| `")) else {
            continue;
        };
        let column = row.split(" |").next().unwrap_or_default();
        for path in column
            .split('`')
            .filter(|part| !part.trim_matches([',', ' ']).is_empty())
        {
            let paths = expand(path).into_iter();
            found.extend(paths.map(|path| (at + 1, format!("{root}/{path}"))));
        }
    }
    found
}

/// `a/{b,c}.rs` as a shell reads it. One pair of braces at most.
fn expand(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else {
        return vec![path.to_owned()];
    };
    let (choices, after) = rest.split_once('}').unwrap_or((rest, ""));
    choices
        .split(',')
        .map(|choice| format!("{before}{choice}{after}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Map\n\n| `client/gone.rs` | not under a crate |\n\n\
        ### `controller-core/src`\n\n| files | |\n|---|---|\n\
        | `client/{key,call}.rs`, `store/` | keys |\n\n### Tests\n\n| `x.rs` | |\n";

    #[test]
    fn braces_and_folders_cover_files() {
        let tree = Tree::sample(&[
            (MAP, DOCUMENT),
            ("controller-core/src/lib.rs", ""),
            ("controller-core/src/client/mod.rs", ""),
            ("controller-core/src/client/key.rs", ""),
            ("controller-core/src/client/call.rs", ""),
            ("controller-core/src/store/writer.rs", ""),
            ("controller-core/src/store/writer/tests.rs", ""),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn rows_without_files_and_files_without_rows_are_found() {
        let tree = Tree::sample(&[
            (MAP, DOCUMENT),
            ("controller-core/src/client/key.rs", ""),
            ("controller-core/src/client/retry.rs", ""),
            ("controller-core/src/store/writer.rs", ""),
        ]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        docs/architecture.md:9 controller-core/src/client/call.rs is not there
        controller-core/src/client/retry.rs:1 is not on the code map
        ");
    }
}
