use std::io;
use std::path::Path;

use super::{
    Findings, Tree, banned_words, code_map, conformance, doc_share, file_order, file_sizes,
    imports, mod_files, module_names, mutating_verbs, prints, pure_plans, top_level, unwraps,
};

/// Every check, in the order in which it reports.
const CHECKS: [fn(&Tree) -> Findings; 14] = [
    top_level::check,
    file_sizes::check,
    mod_files::check,
    module_names::check,
    imports::check,
    pure_plans::check,
    mutating_verbs::check,
    prints::check,
    unwraps::check,
    file_order::check,
    doc_share::check,
    code_map::check,
    conformance::check,
    banned_words::check,
];

/// Checks the workspace at `root` and prints what it finds. `Ok(true)`: all is well.
pub(crate) fn run(root: &Path) -> io::Result<bool> {
    let tree = Tree::read(root)?;
    let mut violations: Vec<String> = tree
        .unparsed
        .violations
        .iter()
        .map(ToString::to_string)
        .collect();
    for check in CHECKS {
        let findings = check(&tree);
        for line in findings.measured {
            println!("{line}");
        }
        violations.extend(findings.violations.iter().map(ToString::to_string));
    }
    for violation in &violations {
        println!("{violation}");
    }
    let (files, checks, count) = (tree.files.len(), CHECKS.len(), violations.len());
    if violations.is_empty() {
        println!("tidy: ok ({files} files, {checks} checks)");
    } else {
        println!("tidy: {count} violations ({files} files, {checks} checks)");
    }
    Ok(violations.is_empty())
}
