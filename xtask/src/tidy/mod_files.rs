use syn::spanned::Spanned;
use syn::{Item, Visibility};

use super::imports::{BESIDE, STAGES};
use super::{Findings, Tree};

/// A `mod.rs` is a contract and a table of contents: documentation, `mod` lines and
/// re-exports. That of a stage says on its first line what goes in and what comes out.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for (file, rust) in tree.shipped().filter(|(file, _)| file.name() == "mod.rs") {
        for item in &rust.items {
            let allowed = match item {
                Item::Mod(module) => module.content.is_none(),
                // `use super::x` without `pub` is how siblings share one import list.
                Item::Use(_) => true,
                _ => false,
            };
            if !allowed {
                findings.add(
                    &file.path,
                    item.span().start().line,
                    "code in a mod.rs",
                    "whoever opens a folder reads its contract and its contents first",
                    "move it to a named file beside, and re-export it here",
                );
            }
        }
        let first = file.text.lines().next().unwrap_or("");
        if !first.starts_with("//! ") {
            findings.add(
                &file.path,
                1,
                "a mod.rs without documentation on its first line",
                "the first line is what the module list shows",
                "start with `//! ` and one sentence",
            );
        } else if is_stage(&file.path) && !first.contains(" → ") {
            findings.add(
                &file.path,
                1,
                "a stage whose first line is not `X → Y`",
                "the stages are the path of an event, and their types spell it",
                "write what goes in, ` → `, and what comes out",
            );
        }
    }
    for (file, rust) in tree.shipped().filter(|(file, _)| file.name() == "lib.rs") {
        let reexports_privately = rust.items.iter().find(
            |item| matches!(item, Item::Use(item) if matches!(item.vis, Visibility::Inherited)),
        );
        if let Some(item) = reexports_privately
            && file.path.starts_with("controller-core/")
        {
            findings.add(
                &file.path,
                item.span().start().line,
                "a private import in lib.rs",
                "lib.rs is the table of contents of the crate",
                "import where it is used",
            );
        }
    }
    findings
}

fn is_stage(path: &str) -> bool {
    let stage = path
        .strip_prefix("controller-core/src/")
        .and_then(|rest| rest.strip_suffix("/mod.rs"));
    stage.is_some_and(|stage| STAGES.contains(&stage) && !BESIDE.contains(&stage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contract_with_modules_and_reexports_passes() {
        let tree = Tree::sample(&[
            (
                "controller-core/src/queue/mod.rs",
                "//! keys → [`Ticket`].\nmod ticket;\n#[cfg(test)]\nmod tests;\npub use ticket::Ticket;\n",
            ),
            (
                "controller-core/src/runtime/mod.rs",
                "//! Wires it all.\nmod run;\n",
            ),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn logic_and_missing_contracts_are_found() {
        let tree = Tree::sample(&[
            (
                "controller-core/src/queue/mod.rs",
                "//! The work queue.\nmod ticket;\n\npub fn add() {}\n",
            ),
            ("xtask/src/demo/mod.rs", "mod steps;\n"),
            ("controller-core/src/lib.rs", "//! Docs.\nuse std::fmt;\n"),
        ]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        controller-core/src/queue/mod.rs:4 code in a mod.rs
        controller-core/src/queue/mod.rs:1 a stage whose first line is not `X → Y`
        xtask/src/demo/mod.rs:1 a mod.rs without documentation on its first line
        controller-core/src/lib.rs:2 a private import in lib.rs
        ");
    }
}
