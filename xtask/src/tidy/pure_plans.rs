use super::{Findings, Token, Tree};

/// Crates that do input or output, or wait.
const CRATES: [&str; 9] = [
    "futures", "http", "hyper", "kube", "rand", "reqwest", "tokio", "tower", "tracing",
];

/// Parts of the standard library that reach outside, or read the clock.
const STD: [&str; 6] = ["env", "fs", "io", "net", "process", "thread"];

/// Names that read the clock, whatever crate they come from.
const CLOCKS: [&str; 4] = ["Instant", "SystemTime", "Utc", "now"];

/// The names of `client` that are values, not connections.
const VALUES: [&str; 4] = ["KeyError", "ObjectKey", "ResourceType", "Scope"];

/// Every `plan.rs` decides from its arguments alone: no client, no clock, no waiting.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    let plans = tree
        .product()
        .filter(|(file, _)| file.name() == "plan.rs" || file.path.contains("/plan/"));
    for (file, rust) in plans {
        for (at, token) in rust.tokens.iter().enumerate() {
            if let Some(what) = impure(&rust.tokens, at) {
                findings.add(
                    &file.path,
                    token.line,
                    format!("{what} in a plan"),
                    "a plan is the same for run, once and every test: it depends on nothing but what was observed",
                    "observe it before, and pass the value in",
                );
            }
        }
    }
    findings
}

fn impure(tokens: &[Token], at: usize) -> Option<String> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let word = text(at);
    let starts_a_path = at == 0 || text(at - 1) != "::";
    let leads_on = text(at + 1) == "::";
    let found = (starts_a_path && leads_on && CRATES.contains(&word))
        || (!starts_a_path && text(at - 2) == "std" && STD.contains(&word))
        || CLOCKS.contains(&word)
        || matches!(word, "async" | "await" | "Client");
    if found {
        return Some(format!("`{word}`"));
    }
    if word == "client" && leads_on {
        let names = imported(tokens, at + 2);
        let connection = names.iter().find(|name| !VALUES.contains(name));
        return connection.map(|name| format!("`client::{name}`"));
    }
    None
}

/// The names behind `client::`, one or a group.
fn imported(tokens: &[Token], at: usize) -> Vec<&str> {
    let rest = &tokens[at..];
    match rest.first().map(|token| token.text.as_str()) {
        Some("{") => rest[1..]
            .iter()
            .map(|token| token.text.as_str())
            .take_while(|text| *text != "}")
            .filter(|text| *text != ",")
            .collect(),
        Some(name) => vec![name],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_durations_pass_and_so_does_code_elsewhere() {
        let tree = Tree::sample(&[
            (
                "controller-core/src/controllers/min_replicas/plan.rs",
                "use std::time::Duration;\nuse std::fmt;\nuse crate::client::{ObjectKey, Scope};\n\
                 use crate::client::ResourceType;\npub fn plan() {}\n\
                 #[cfg(test)]\nmod tests { use std::fs; }\n",
            ),
            (
                "controller-core/src/controllers/min_replicas/observe.rs",
                "use kube::Client;",
            ),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn clients_clocks_and_waiting_are_found() {
        let tree = Tree::sample(&[(
            "controller-core/src/controllers/min_replicas/plan.rs",
            "use kube::Api;\n\
             use crate::client::{ObjectKey, fetch};\n\
             use crate::client::send;\n\
             use tokio::time::Duration;\n\
             fn a() { let t = jiff::Timestamp::now(); }\n\
             async fn b() {}\n\
             fn c() { std::env::var(\"X\"); }\n",
        )]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        controller-core/src/controllers/min_replicas/plan.rs:1 `kube` in a plan
        controller-core/src/controllers/min_replicas/plan.rs:2 `client::fetch` in a plan
        controller-core/src/controllers/min_replicas/plan.rs:3 `client::send` in a plan
        controller-core/src/controllers/min_replicas/plan.rs:4 `tokio` in a plan
        controller-core/src/controllers/min_replicas/plan.rs:5 `now` in a plan
        controller-core/src/controllers/min_replicas/plan.rs:6 `async` in a plan
        controller-core/src/controllers/min_replicas/plan.rs:7 `env` in a plan
        ");
    }
}
