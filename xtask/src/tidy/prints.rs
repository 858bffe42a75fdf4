use super::{Findings, Tree};

/// Where the product may write to the terminal.
const PRINTERS: [&str; 2] = ["kubectl-minrep/src/out/", "kubectl-minrep/src/main.rs"];

/// In the product crates only the plugin's `out/` and `main.rs` print.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for (file, rust) in tree.product() {
        if PRINTERS.iter().any(|prefix| file.path.starts_with(prefix)) {
            continue;
        }
        for pair in rust.tokens.windows(2) {
            let (word, next) = (pair[0].text.as_str(), pair[1].text.as_str());
            let prints = matches!(word, "print" | "println" | "eprint" | "eprintln" | "dbg")
                && next == "!"
                || matches!(word, "stdout" | "stderr") && next == "("
                || matches!(word, "Stdout" | "Stderr");
            if prints {
                findings.add(
                    &file.path,
                    pair[0].line,
                    format!("`{word}` outside of out/"),
                    "stdout is data that scripts read, and one place keeps it clean",
                    "return the text, or log with tracing",
                );
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_main_and_other_crates_may_print() {
        let code = "fn f() { println!(\"x\"); std::io::stdout().lock(); }";
        let tree = Tree::sample(&[
            ("kubectl-minrep/src/out/table.rs", code),
            ("kubectl-minrep/src/main.rs", code),
            ("xtask/src/main.rs", code),
            (
                "controller-core/src/queue/a.rs",
                "fn f() { g(\"println!\"); }",
            ),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn every_way_to_print_is_found() {
        let tree = Tree::sample(&[(
            "controller-core/src/queue/a.rs",
            "fn f() {\n  eprintln!(\"x\");\n  std::io::stdout().lock();\n}\nstruct P(std::io::Stderr);",
        )]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        controller-core/src/queue/a.rs:2 `eprintln` outside of out/
        controller-core/src/queue/a.rs:3 `stdout` outside of out/
        controller-core/src/queue/a.rs:5 `Stderr` outside of out/
        ");
    }
}
