use std::collections::BTreeSet;

use syn::Item;
use syn::spanned::Spanned;

use super::{Findings, Tree};

/// Names that say nothing about what is inside.
const EMPTY: [&str; 7] = [
    "common", "helper", "helpers", "misc", "types", "util", "utils",
];

/// Modules, files and folders are named after what is in them.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    let mut seen = BTreeSet::new();
    for file in tree.files.iter().filter(|file| file.rust.is_some()) {
        let mut end = 0;
        for part in file.path.split('/') {
            end += part.len() + 1;
            let whole = &file.path[..end - 1];
            let name = part.trim_end_matches(".rs");
            if EMPTY.contains(&name) && seen.insert(whole.to_owned()) {
                report(&mut findings, whole, 1, name);
            }
        }
    }
    for (file, rust) in tree.shipped() {
        for item in &rust.items {
            if let Item::Mod(module) = item
                && module.content.is_some()
                && EMPTY.iter().any(|empty| module.ident == empty)
            {
                let line = module.span().start().line;
                report(&mut findings, &file.path, line, &module.ident.to_string());
            }
        }
    }
    findings
}

fn report(findings: &mut Findings, path: &str, line: usize, name: &str) {
    findings.add(
        path,
        line,
        format!("a module called {name}"),
        "such a module collects what nobody finds again",
        "name it after the one thing that is in it",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telling_names_pass() {
        let tree = Tree::sample(&[
            ("a/src/type_list.rs", "mod backoff {}"),
            ("docs/types.md", ""),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn empty_names_are_found_as_file_folder_and_inline_module() {
        let tree = Tree::sample(&[
            ("a/src/utils.rs", ""),
            ("a/tests/common/mod.rs", ""),
            ("a/tests/common/server.rs", ""),
            ("a/src/lib.rs", "\nmod helpers { fn f() {} }"),
        ]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        a/src/utils.rs:1 a module called utils
        a/tests/common:1 a module called common
        a/src/lib.rs:2 a module called helpers
        ");
    }
}
