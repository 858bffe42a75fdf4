use super::{Findings, Token, Tree};

/// The stages of an event's path, in its order.
pub(super) const STAGES: [&str; 8] = [
    "client",
    "watch",
    "store",
    "handler",
    "queue",
    "worker",
    "controllers",
    "write",
];

/// They join stages or stand beside them, and may import all of them.
pub(super) const BESIDE: [&str; 4] = ["admin", "informer", "leader", "runtime"];

/// Where stage folders live.
const CORE: &str = "controller-core/src/";

/// A stage of controller-core imports only from stages before it.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for (file, rust) in tree.shipped() {
        if !file.path.starts_with(CORE) {
            continue;
        }
        let module = file.module();
        let Some(folder) = module.first().copied() else {
            continue;
        };
        if BESIDE.contains(&folder) {
            continue;
        }
        let Some(own) = STAGES.iter().position(|stage| *stage == folder) else {
            findings.add(
                &file.path,
                1,
                format!("{folder} is no stage"),
                "one folder is one stage of an event's path",
                "move it into a stage, or add it to the lists in xtask/src/tidy/imports.rs",
            );
            continue;
        };
        for (line, name) in from_root(&rust.tokens, module.len()) {
            match STAGES.iter().position(|stage| *stage == name) {
                Some(position) if position <= own => {}
                Some(_) => findings.add(
                    &file.path,
                    line,
                    format!("{folder} imports from {name}, a later stage"),
                    "an event flows one way, so that each stage can be read and tested alone",
                    format!("let {folder} own a trait that {name} implements, and join the two in runtime"),
                ),
                None => findings.add(
                    &file.path,
                    line,
                    format!("{folder} imports {name}, which is no stage"),
                    "what stands beside the stages joins them; it is not one of their parts",
                    "import from an earlier stage",
                ),
            }
        }
    }
    findings
}

/// What the file names directly below the crate's root: the `x` of `crate::x`, of each
/// part of `crate::{x, y}`, and of as many `super::` as lead up there.
fn from_root(tokens: &[Token], depth: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut at = 0;
    while at < tokens.len() {
        let starts_a_path = at == 0 || text(at - 1) != "::";
        let after = match text(at) {
            "crate" if starts_a_path && text(at + 1) == "::" => Some(at + 2),
            "super" if starts_a_path => {
                let steps = (0..)
                    .take_while(|n| text(at + 2 * n) == "super" && text(at + 2 * n + 1) == "::")
                    .count();
                (steps >= depth && steps > 0).then_some(at + 2 * steps)
            }
            _ => None,
        };
        if let Some(after) = after {
            if text(after) == "{" {
                found.extend(heads(tokens, after + 1));
            } else if let Some(token) = tokens.get(after) {
                found.push((token.line, token.text.as_str()));
            }
        }
        at += 1;
    }
    found
}

/// The first name of each part of the group that opened just before `start`.
fn heads(tokens: &[Token], start: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut depth = 1;
    let mut at_head = true;
    for token in &tokens[start..] {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => at_head = true,
            name if depth == 1 && at_head => {
                found.push((token.line, name));
                at_head = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_stages_the_own_one_docs_and_tests_pass() {
        let tree = Tree::sample(&[
            (
                "controller-core/src/store/writer.rs",
                "//! Feeds [`handler`](crate::handler).\n\
                 use crate::{client::ObjectKey, watch::{Object, LabelSelector}};\n\
                 use super::Delta;\n\
                 pub(crate) fn f(x: super::Delta) { crate::store::g(\"crate::queue\") }\n\
                 #[cfg(test)]\nmod tests { use crate::queue::WorkQueue; }\n",
            ),
            (
                "controller-core/src/runtime/run.rs",
                "use crate::write::ScaleWriter;",
            ),
            ("kubectl-minrep/src/cli/run.rs", "use crate::out::Printer;"),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn later_stages_are_found_however_they_are_named() {
        let tree = Tree::sample(&[
            (
                "controller-core/src/store/a.rs",
                "use crate::queue::WorkQueue;\n\
                 use crate::{client::ObjectKey, handler::{self, Enqueue}};\n\
                 use super::super::worker::Outcome;\n\
                 fn f() { tokio::select! { x = crate::write::go() => {} } }\n\
                 use crate::runtime::run;\n\
                 use crate::Root;\n",
            ),
            (
                "controller-core/src/store/mod.rs",
                "//! a → b\npub use super::queue::Ticket;",
            ),
            ("controller-core/src/metrics/mod.rs", ""),
        ]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        controller-core/src/metrics/mod.rs:1 metrics is no stage
        controller-core/src/store/a.rs:1 store imports from queue, a later stage
        controller-core/src/store/a.rs:2 store imports from handler, a later stage
        controller-core/src/store/a.rs:3 store imports from worker, a later stage
        controller-core/src/store/a.rs:4 store imports from write, a later stage
        controller-core/src/store/a.rs:5 store imports runtime, which is no stage
        controller-core/src/store/a.rs:6 store imports Root, which is no stage
        controller-core/src/store/mod.rs:2 store imports from queue, a later stage
        ");
    }
}
